// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package modelstack

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/autoscaling"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/children"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/render"
)

// stackOfAutoscaler returns the stack whose box an autoscaler scales.
func (c *Controller) stackOfAutoscaler(autoscaler metav1.Object) (types.NamespacedName, bool) {
	kind, name, ok := autoscaling.Target(autoscaler)
	if !ok || kind != boxKind.GroupKind() {
		return types.NamespacedName{}, false
	}
	box, err := c.boxLister.ModelBoxes(name.Namespace).Get(name.Name)
	if err != nil {
		return types.NamespacedName{}, false
	}
	return c.children.OwnerOf(box)
}

// renderedFor returns the children of a component. It leaves the number of pods of a box to the autoscaler of the box, which may
// come from the spec of the box.
func (c *Controller) renderedFor(of *component, live children.Live) ([]*unstructured.Unstructured, error) {
	if of.autoscaled == nil {
		return of.rendered, nil
	}
	box, err := liveBox(live, of.BoxName)
	if err != nil || box == nil {
		return of.rendered, err
	}
	if decidesItself(box, of.Box) {
		return of.autoscaled, nil
	}
	isAutoscaled, err := autoscaling.Decides(c.autoscalers, boxKind.GroupKind(), box, replicasOf(box), *of.Box.Replicas)
	if err != nil || !isAutoscaled {
		return of.rendered, err
	}
	return of.autoscaled, nil
}

// decidesItself returns whether the API leaves the number of pods of the live box as it is, whatever is written, because of its
// own autoscaling, which the stack wants to stay.
func decidesItself(live *modelv1.ModelBox, wanted *modelv1.ModelBoxSpec) bool {
	return live.Spec.Autoscaling != nil && wanted.Autoscaling != nil && replicasOf(live) != 0 && *wanted.Replicas != 0
}

// handOverReplicas returns the number of pods of the live box when the rendered one leaves it to an autoscaler.
func handOverReplicas(rendered *unstructured.Unstructured, live children.Object) (*unstructured.Unstructured, error) {
	return render.HandOverReplicas(rendered, live, replicasOf(live.(*modelv1.ModelBox)))
}

func replicasOf(box *modelv1.ModelBox) int32 {
	return ptr.Deref(box.Spec.Replicas, modelv1.DefaultReplicas)
}
