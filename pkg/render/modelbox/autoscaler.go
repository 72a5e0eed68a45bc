// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package modelbox

import (
	"fmt"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	applyautoscalingv2 "k8s.io/client-go/applyconfigurations/autoscaling/v2"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/render"
)

// autoscaler returns the HorizontalPodAutoscaler of a box. It scales the box instead of its workload, so that spec.replicas of the
// box has the number of pods.
func autoscaler(box *modelv1.ModelBox) (*applyautoscalingv2.HorizontalPodAutoscalerApplyConfiguration, error) {
	autoscaling := box.Spec.Autoscaling
	spec := applyautoscalingv2.HorizontalPodAutoscalerSpec().
		WithScaleTargetRef(applyautoscalingv2.CrossVersionObjectReference().
			WithAPIVersion(Kind.GroupVersion().String()).
			WithKind(Kind.Kind).
			WithName(box.Name)).
		WithMinReplicas(*autoscaling.MinReplicas).
		WithMaxReplicas(autoscaling.MaxReplicas)
	if autoscaling.CPU != nil {
		spec.WithMetrics(utilization(corev1.ResourceCPU, *autoscaling.CPU))
	}
	if autoscaling.Memory != nil {
		spec.WithMetrics(utilization(corev1.ResourceMemory, *autoscaling.Memory))
	}
	for i := range autoscaling.Metrics {
		metric := &applyautoscalingv2.MetricSpecApplyConfiguration{}
		if err := render.ConvertSet(&autoscaling.Metrics[i], metric); err != nil {
			return nil, fmt.Errorf("metric %d: %w", i, err)
		}
		spec.WithMetrics(metric)
	}
	if autoscaling.Behavior != nil {
		spec.Behavior = &applyautoscalingv2.HorizontalPodAutoscalerBehaviorApplyConfiguration{}
		if err := render.ConvertSet(autoscaling.Behavior, spec.Behavior); err != nil {
			return nil, fmt.Errorf("behavior: %w", err)
		}
	}
	return applyautoscalingv2.HorizontalPodAutoscaler(box.Name, box.Namespace).
		WithLabels(labels(box)).
		WithAnnotations(box.Spec.Annotations).
		WithOwnerReferences(render.OwnerReference(box, Kind)).
		WithSpec(spec), nil
}

// utilization returns a metric of the usage of the pods, in percent of their requests.
func utilization(resource corev1.ResourceName, percent int32) *applyautoscalingv2.MetricSpecApplyConfiguration {
	return applyautoscalingv2.MetricSpec().
		WithType(autoscalingv2.ResourceMetricSourceType).
		WithResource(applyautoscalingv2.ResourceMetricSource().
			WithName(resource).
			WithTarget(applyautoscalingv2.MetricTarget().
				WithType(autoscalingv2.UtilizationMetricType).
				WithAverageUtilization(percent)))
}
