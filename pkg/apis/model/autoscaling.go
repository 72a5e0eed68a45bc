// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package model

import (
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// ModelBoxAutoscaling is the HorizontalPodAutoscaler of a box. cpu, memory and metrics together are at least one metric, and
// the one that asks for the most pods decides.
type ModelBoxAutoscaling struct {
	MinReplicas *int32
	MaxReplicas int32
	CPU         *int32
	Memory      *int32
	Metrics     []autoscalingv2.MetricSpec
	Behavior    *autoscalingv2.HorizontalPodAutoscalerBehavior
}

// ModelBoxDisruptionBudget is the PodDisruptionBudget of a box. It has one of its fields.
type ModelBoxDisruptionBudget struct {
	MinAvailable   *intstr.IntOrString
	MaxUnavailable *intstr.IntOrString
}
