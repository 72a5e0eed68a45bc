// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package kinds

import (
	"slices"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/childkinds"
	modelboxapply "github.com/sharelinuxs/modelbox-apiserver/pkg/apply/modelbox"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/children"
)

// autoscalerKind returns the autoscalers of boxes as a kind of children.
func autoscalerKind(cluster kubernetes.Interface, informer cache.SharedIndexInformer) *children.Kind {
	return children.NewKind(modelboxapply.Kind(childkinds.HorizontalPodAutoscaler), informer,
		func(namespace string) children.Client[*autoscalingv2.HorizontalPodAutoscaler] {
			return cluster.AutoscalingV2().HorizontalPodAutoscalers(namespace)
		})
}

// scalingDisabled is the reason for which an autoscaler does not scale what has no replicas.
const scalingDisabled = "ScalingDisabled"

// HasScaledToZero returns whether the autoscaler, which may be nil, has removed all pods and will start pods when they are needed. If a
// user has removed them, the autoscaler does nothing.
func HasScaledToZero(autoscaler *autoscalingv2.HorizontalPodAutoscaler) bool {
	return autoscaler != nil && slices.ContainsFunc(autoscaler.Status.Conditions, func(condition autoscalingv2.HorizontalPodAutoscalerCondition) bool {
		return condition.Type == autoscalingv2.ScaledToZero && condition.Status == corev1.ConditionTrue
	})
}

// DescribeAutoscaler words what keeps the autoscaler from scaling a box that is ready all the same. It is empty where nothing does.
func DescribeAutoscaler(autoscaler *autoscalingv2.HorizontalPodAutoscaler) string {
	if autoscaler == nil {
		return ""
	}
	i := slices.IndexFunc(autoscaler.Status.Conditions, func(condition autoscalingv2.HorizontalPodAutoscalerCondition) bool {
		isNeeded := condition.Type == autoscalingv2.AbleToScale || condition.Type == autoscalingv2.ScalingActive
		return isNeeded && condition.Status == corev1.ConditionFalse && condition.Reason != scalingDisabled
	})
	if i < 0 {
		return ""
	}
	condition := &autoscaler.Status.Conditions[i]
	return "not autoscaled: " + condition.Reason + ": " + condition.Message
}
