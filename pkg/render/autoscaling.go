// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package render

import (
	"fmt"
	"strconv"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
)

// LeavesReplicas returns whether the controller leaves the number of pods of a live child, replicas, to an autoscaler, while its
// owner asks for wanted. It does so if isScaled is true, which means that an autoscaler exists. After the deletion of the
// autoscaler, it does so until the owner asks for another number, so that the replacement of an autoscaler does not scale the child
// down meanwhile. It does not do so for a child that is stopped, or that is started again and does not have its pods yet.
func LeavesReplicas(live metav1.Object, replicas, wanted int32, isScaled bool) bool {
	leftAt, isLeft := live.GetAnnotations()[modelv1.AutoscaledAnnotation]
	switch {
	case wanted == 0:
		return false
	case isLeft && leftAt == strconv.Itoa(int(wanted)):
		return true
	case !isLeft && replicas == 0:
		return false
	default:
		return isScaled
	}
}

// ScaleTarget returns the kind and the name of the target of an autoscaler, which is in its namespace. It returns false if the API
// version of the target is invalid.
func ScaleTarget(autoscaler *autoscalingv2.HorizontalPodAutoscaler) (schema.GroupKind, string, bool) {
	target := autoscaler.Spec.ScaleTargetRef
	version, err := schema.ParseGroupVersion(target.APIVersion)
	if err != nil {
		return schema.GroupKind{}, "", false
	}
	return version.WithKind(target.Kind).GroupKind(), target.Name, true
}

// HandOverReplicas returns the number of pods of the live child, as an apply configuration, when the rendered child gives it up, and nil
// otherwise. Without a manager, the number would become 1, which is the default of the API.
func HandOverReplicas(rendered *unstructured.Unstructured, live metav1.Object, replicas int32) (*unstructured.Unstructured, error) {
	if !isAutoscaled(rendered) || isAutoscaled(live) {
		return nil, nil
	}
	configuration := &unstructured.Unstructured{}
	configuration.SetGroupVersionKind(rendered.GroupVersionKind())
	configuration.SetNamespace(live.GetNamespace())
	configuration.SetName(live.GetName())
	if err := unstructured.SetNestedField(configuration.Object, int64(replicas), "spec", "replicas"); err != nil {
		return nil, fmt.Errorf("setting the replicas to hand over: %w", err)
	}
	return configuration, nil
}

func isAutoscaled(child metav1.Object) bool {
	_, is := child.GetAnnotations()[modelv1.AutoscaledAnnotation]
	return is
}
