// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package modelstack

import (
	"fmt"
	"strconv"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/children"
)

// byScaledBox indexes autoscalers by the box that they scale.
const byScaledBox = "scaledBox"

// scaledBox returns the box that an autoscaler scales.
func scaledBox(object metav1.Object) (types.NamespacedName, bool) {
	autoscaler, ok := object.(*autoscalingv2.HorizontalPodAutoscaler)
	if !ok {
		return types.NamespacedName{}, false
	}
	target := autoscaler.Spec.ScaleTargetRef
	group, err := schema.ParseGroupVersion(target.APIVersion)
	if err != nil || group.Group != boxKind.Group || target.Kind != boxKind.Kind {
		return types.NamespacedName{}, false
	}
	return types.NamespacedName{Namespace: autoscaler.Namespace, Name: target.Name}, true
}

func indexByScaledBox(obj any) ([]string, error) {
	object, ok := obj.(metav1.Object)
	if !ok {
		return nil, fmt.Errorf("expected an object with metadata, got %T", obj)
	}
	if box, ok := scaledBox(object); ok {
		return []string{box.String()}, nil
	}
	return nil, nil
}

// stackOfAutoscaler returns the stack whose box an autoscaler scales.
func (c *Controller) stackOfAutoscaler(autoscaler metav1.Object) (types.NamespacedName, bool) {
	name, ok := scaledBox(autoscaler)
	if !ok {
		return types.NamespacedName{}, false
	}
	box, err := c.boxLister.ModelBoxes(name.Namespace).Get(name.Name)
	if err != nil {
		return types.NamespacedName{}, false
	}
	return c.children.OwnerOf(box)
}

// renderedFor returns the children of a component. The number of pods of a box is left to its autoscaler, and as that left
// it until the stack asks for another number. A box that is stopped is not autoscaled, nor is one that is started again,
// until it has its pods.
func (c *Controller) renderedFor(of *component, live children.Live) ([]*unstructured.Unstructured, error) {
	if of.autoscaled == nil || *of.Box.Replicas == 0 {
		return of.rendered, nil
	}
	box, err := liveBox(live, of.BoxName)
	if err != nil || box == nil {
		return of.rendered, err
	}
	leftAt, isLeft := box.Annotations[modelv1.AutoscaledAnnotation]
	if isLeft && leftAt == strconv.Itoa(int(*of.Box.Replicas)) {
		return of.autoscaled, nil
	}
	if !isLeft && ptr.Deref(box.Spec.Replicas, modelv1.DefaultReplicas) == 0 {
		return of.rendered, nil
	}
	autoscalers, err := c.autoscalers.ByIndex(byScaledBox, keyOf(box).String())
	if err != nil {
		return nil, fmt.Errorf("looking up the autoscalers of the box: %w", err)
	}
	if len(autoscalers) == 0 {
		return of.rendered, nil
	}
	return of.autoscaled, nil
}

// handOverReplicas returns the number of pods of the live box when the rendered one leaves it to an autoscaler. Nobody's, it
// would become 1, which is the default.
func handOverReplicas(rendered *unstructured.Unstructured, live children.Object) (*unstructured.Unstructured, error) {
	box := live.(*modelv1.ModelBox)
	if !isAutoscaled(rendered) || isAutoscaled(box) {
		return nil, nil
	}
	replicas := &unstructured.Unstructured{}
	replicas.SetGroupVersionKind(rendered.GroupVersionKind())
	replicas.SetNamespace(box.Namespace)
	replicas.SetName(box.Name)
	if err := unstructured.SetNestedField(replicas.Object, int64(ptr.Deref(box.Spec.Replicas, modelv1.DefaultReplicas)), "spec", "replicas"); err != nil {
		return nil, fmt.Errorf("setting the replicas to hand over: %w", err)
	}
	return replicas, nil
}

func isAutoscaled(box metav1.Object) bool {
	_, is := box.GetAnnotations()[modelv1.AutoscaledAnnotation]
	return is
}
