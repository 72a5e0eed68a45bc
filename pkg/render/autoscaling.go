// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package render

import (
	"strconv"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
)

// LeavesReplicas returns whether the number of pods of a live child, which is replicas, is left to an autoscaler while its
// owner asks for wanted: to one that there is, which is what isScaled says, and as the last one left it until the owner asks
// for another number. One that is replaced by an autoscaler of something else must not cost pods in between. A child that is
// stopped is not autoscaled, nor is one that is started again, until it has its pods.
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

// ScaleTarget returns the kind and the name of what an autoscaler scales, in its own namespace, and false for one that names no
// kind that there could be.
func ScaleTarget(autoscaler *autoscalingv2.HorizontalPodAutoscaler) (schema.GroupKind, string, bool) {
	target := autoscaler.Spec.ScaleTargetRef
	version, err := schema.ParseGroupVersion(target.APIVersion)
	if err != nil {
		return schema.GroupKind{}, "", false
	}
	return version.WithKind(target.Kind).GroupKind(), target.Name, true
}
