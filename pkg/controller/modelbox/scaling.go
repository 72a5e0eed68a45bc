// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package modelbox

import (
	"fmt"
	"strconv"

	appsv1 "k8s.io/api/apps/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/children"
	modelboxrender "github.com/sharelinuxs/modelbox-apiserver/pkg/render/modelbox"
)

// byScaleTarget indexes autoscalers by the workload that they scale: its kind, namespace and name.
const byScaleTarget = "scaleTarget"

var (
	replicasPath    = fieldpath.MakePathOrDie("spec", "replicas")
	podMetadataPath = fieldpath.MakePathOrDie("spec", "template", "metadata")
)

// scaleTarget returns what an autoscaler scales: its kind, and its namespace and name. It is false unless that is of the
// group of workloads.
func scaleTarget(object metav1.Object) (kind string, name types.NamespacedName, ok bool) {
	autoscaler, ok := object.(*autoscalingv2.HorizontalPodAutoscaler)
	if !ok {
		return "", types.NamespacedName{}, false
	}
	target := autoscaler.Spec.ScaleTargetRef
	group, err := schema.ParseGroupVersion(target.APIVersion)
	if err != nil || group.Group != appsv1.GroupName {
		return "", types.NamespacedName{}, false
	}
	return target.Kind, types.NamespacedName{Namespace: autoscaler.Namespace, Name: target.Name}, true
}

// scaledBox returns the box of the workload that an autoscaler scales: they have the same name.
func scaledBox(object metav1.Object) (types.NamespacedName, bool) {
	_, name, ok := scaleTarget(object)
	return name, ok
}

func scaleTargetKeys(obj any) ([]string, error) {
	autoscaler, ok := obj.(*autoscalingv2.HorizontalPodAutoscaler)
	if !ok {
		return nil, fmt.Errorf("expected a HorizontalPodAutoscaler, got %T", obj)
	}
	if kind, name, ok := scaleTarget(autoscaler); ok {
		return []string{scaleTargetKey(kind, name)}, nil
	}
	return nil, nil
}

func scaleTargetKey(kind string, name types.NamespacedName) string { return kind + "/" + name.String() }

// scaling leaves the number of pods to an autoscaler of the workload, and leaves it as that left it until the box
// asks for another number: one that is replaced by an autoscaler of the box must not cost pods in between. A box that
// is stopped is not autoscaled, nor is one that is started again, until it has its pods.
func (c *Controller) scaling(box *modelv1.ModelBox, workload workload) (modelboxrender.Scaling, error) {
	if workload == nil || ptr.Deref(box.Spec.Replicas, 0) == 0 {
		return modelboxrender.ScaledByBox, nil
	}
	replicas := workload.replicas().desired
	leftAt, isLeft := workload.GetAnnotations()[modelv1.AutoscaledAnnotation]
	if isLeft && leftAt == strconv.Itoa(int(*box.Spec.Replicas)) {
		return modelboxrender.ScaledByAutoscaler(replicas), nil
	}
	if !isLeft && replicas == 0 {
		return modelboxrender.ScaledByBox, nil
	}
	autoscalers, err := c.autoscalers.ByIndex(byScaleTarget, scaleTargetKey(workload.kind(), keyOf(workload)))
	if err != nil {
		return modelboxrender.Scaling{}, fmt.Errorf("looking up the autoscalers of the %s: %w", workload.kind(), err)
	}
	if len(autoscalers) == 0 {
		return modelboxrender.ScaledByBox, nil
	}
	return modelboxrender.ScaledByAutoscaler(replicas), nil
}

// handOverReplicas returns the number of pods of the live workload when the rendered one gives it up. Nobody's, it would
// become 1, which is the API's default.
func handOverReplicas(rendered *unstructured.Unstructured, live children.Object) (*unstructured.Unstructured, error) {
	if !isAutoscaled(rendered) || isAutoscaled(live) {
		return nil, nil
	}
	replicas := &unstructured.Unstructured{}
	replicas.SetGroupVersionKind(rendered.GroupVersionKind())
	replicas.SetNamespace(live.GetNamespace())
	replicas.SetName(live.GetName())
	if err := unstructured.SetNestedField(replicas.Object, int64(asWorkload(live).replicas().desired), "spec", "replicas"); err != nil {
		return nil, fmt.Errorf("setting the replicas to hand over: %w", err)
	}
	return replicas, nil
}

func isAutoscaled(workload metav1.Object) bool {
	_, is := workload.GetAnnotations()[modelv1.AutoscaledAnnotation]
	return is
}
