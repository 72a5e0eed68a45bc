// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package v1

import (
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// ModelBoxAutoscaling is the HorizontalPodAutoscaler of a box. cpu, memory and metrics together are at least one metric, and
// the one that asks for the most pods decides.
type ModelBoxAutoscaling struct {
	// minReplicas is the least number of pods: at least 0 with a metric of type External or Object, otherwise at least 1. Defaults to 1.
	//
	// Example: 2
	// +optional
	MinReplicas *int32 `json:"minReplicas,omitempty" protobuf:"varint,1,opt,name=minReplicas"`

	// maxReplicas is the largest number of pods, at least minReplicas. Required.
	//
	// Example: 10
	MaxReplicas int32 `json:"maxReplicas" protobuf:"varint,2,opt,name=maxReplicas"`

	// cpu is how much of the CPU that they request the pods are to use on average, in percent, above 0. Every container has
	// to request CPU. Defaults to none.
	//
	// Example: 70
	// +optional
	CPU *int32 `json:"cpu,omitempty" protobuf:"varint,3,opt,name=cpu"`

	// memory is how much of the memory that they request the pods are to use on average, in percent, above 0. Every
	// container has to request memory. Defaults to none.
	//
	// Example: 80
	// +optional
	Memory *int32 `json:"memory,omitempty" protobuf:"varint,4,opt,name=memory"`

	// metrics are further metrics, as a HorizontalPodAutoscaler has them. Defaults to none.
	//
	// Example: [{type: Pods, pods: {metric: {name: requests}, target: {type: AverageValue, averageValue: "100"}}}]
	// +optional
	// +listType=atomic
	// +k8s:eachVal=+k8s:opaqueType
	// +k8s:validation:maxItems=64
	Metrics []autoscalingv2.MetricSpec `json:"metrics,omitempty" protobuf:"bytes,5,rep,name=metrics"`

	// behavior is how fast the number of pods may grow and shrink, as a HorizontalPodAutoscaler has it. Defaults to none,
	// which is what the cluster does.
	//
	// Example: {scaleDown: {stabilizationWindowSeconds: 60}}
	// +optional
	// +k8s:opaqueType
	Behavior *autoscalingv2.HorizontalPodAutoscalerBehavior `json:"behavior,omitempty" protobuf:"bytes,6,opt,name=behavior"`
}

// ModelBoxDisruptionBudget is the PodDisruptionBudget of a box. It has one of its fields.
type ModelBoxDisruptionBudget struct {
	// minAvailable is how many pods, or which percentage of them, rounded up, an eviction has to leave. Defaults to none.
	//
	// Example: 2
	// +optional
	// +k8s:opaqueType
	MinAvailable *intstr.IntOrString `json:"minAvailable,omitempty" protobuf:"bytes,1,opt,name=minAvailable"`

	// maxUnavailable is how many pods, or which percentage of them, rounded up, may be missing after an eviction. Defaults
	// to none.
	//
	// Example: "25%"
	// +optional
	// +k8s:opaqueType
	MaxUnavailable *intstr.IntOrString `json:"maxUnavailable,omitempty" protobuf:"bytes,2,opt,name=maxUnavailable"`
}
