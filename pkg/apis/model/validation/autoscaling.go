// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package validation

import (
	"slices"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	"k8s.io/apimachinery/pkg/util/validation/field"

	corevalidation "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/core/validation"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model"
)

// validateAutoscaling validates the autoscaler of a box. What the pods request is a matter of ValidateUtilization.
func validateAutoscaling(spec *model.ModelBoxSpec, path *field.Path) field.ErrorList {
	autoscaling, path := spec.Autoscaling, path.Child("autoscaling")
	if autoscaling == nil {
		return nil
	}
	if spec.Workload == model.WorkloadDaemonSet {
		return field.ErrorList{field.Forbidden(path, "may not be set when `workload` is 'DaemonSet', which runs a pod on every node")}
	}
	errs := slices.Concat(
		corevalidation.ValidateHorizontalPodAutoscalerSpec(&autoscalingv2.HorizontalPodAutoscalerSpec{
			MinReplicas: autoscaling.MinReplicas,
			MaxReplicas: autoscaling.MaxReplicas,
			Metrics:     autoscaling.Metrics,
			Behavior:    autoscaling.Behavior,
		}, path),
		validateUtilizationPercent(autoscaling.CPU, path.Child("cpu")),
		validateUtilizationPercent(autoscaling.Memory, path.Child("memory")),
	)
	if autoscaling.CPU == nil && autoscaling.Memory == nil && len(autoscaling.Metrics) == 0 {
		errs = append(errs, field.Required(path, "must have at least one metric: cpu, memory or metrics"))
	}
	return errs
}

func validateUtilizationPercent(percent *int32, path *field.Path) field.ErrorList {
	if percent == nil || *percent > 0 {
		return nil
	}
	return field.ErrorList{field.Invalid(path, *percent, "must be above 0: it is in percent of what the pods request")}
}
