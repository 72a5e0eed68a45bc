// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package validation

import (
	"fmt"
	"slices"

	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/validate"
)

// maxStatefulSetName is limited by the label controller-revision-hash. Its value consists of the name of the StatefulSet, a '-' and
// a hash of up to ten digits. Kubernetes accepts longer names, but then creates no pods. The name of the headless Service, which
// ends in "-headless", is short enough then.
const maxStatefulSetName = validation.LabelValueMaxLength - len("-0123456789")

// validateWorkloadName validates the name of a box as the name of its workload.
func validateWorkloadName(box *model.ModelBox, path *field.Path) field.ErrorList {
	switch workload, length := box.Spec.Workload, len(box.Name); {
	case workload == model.WorkloadStatefulSet && length > maxStatefulSetName:
		return field.ErrorList{field.Invalid(path, box.Name, mustBeShorter(maxStatefulSetName, workload, "its pods have a label of the name and a hash"))}
	case workload == model.WorkloadCronJob && length > maxCronJobName:
		return field.ErrorList{field.Invalid(path, box.Name, mustBeShorter(maxCronJobName, workload, "its Jobs are named after it and the time"))}
	default:
		return nil
	}
}

func mustBeShorter(maximum int, workload model.Workload, because string) string {
	return fmt.Sprintf("must be no more than %d characters when `workload` is '%s': %s", maximum, workload, because)
}

// validateWorkloadUpdate refuses changes that would need another workload.
func validateWorkloadUpdate(spec, old *model.ModelBoxSpec, path *field.Path) field.ErrorList {
	return slices.Concat(
		apivalidation.ValidateImmutableField(spec.Workload, old.Workload, path.Child("workload")),
		validateGoverningServiceUpdate(spec, old, path.Child("serviceType")),
	)
}

// validateGoverningServiceUpdate refuses to change the Service that gives the pods of a StatefulSet their names. It is either the
// Service of the box, if that is headless, or a second, headless one.
func validateGoverningServiceUpdate(spec, old *model.ModelBoxSpec, path *field.Path) field.ErrorList {
	isHeadless, wasHeadless := spec.ServiceType == model.ServiceTypeHeadless, old.ServiceType == model.ServiceTypeHeadless
	if spec.Workload != model.WorkloadStatefulSet || old.Workload != model.WorkloadStatefulSet || isHeadless == wasHeadless {
		return nil
	}
	return field.ErrorList{field.Forbidden(path, mustNotChangeGoverningService)}
}

// validateDisruptionBudget requires one of the limits of a PodDisruptionBudget, for which Kubernetes can count the pods.
func validateDisruptionBudget(spec *model.ModelBoxSpec, path *field.Path) field.ErrorList {
	budget := spec.DisruptionBudget
	if budget == nil {
		return nil
	}
	path = path.Child("disruptionBudget")
	limit := func(value *intstr.IntOrString, path *field.Path) field.ErrorList {
		_, errs := validatePodsOrShare(*value, path)
		return errs
	}
	errs := validate.ExactlyOneOf([]validate.Member{
		validate.MemberOf("minAvailable", budget.MinAvailable, limit),
		validate.MemberOf("maxUnavailable", budget.MaxUnavailable, limit),
	}, path)
	if len(errs) > 0 || spec.Workload != model.WorkloadDaemonSet {
		return errs
	}
	// A DaemonSet has no scale, from which Kubernetes would read the number of pods that there should be.
	switch {
	case budget.MaxUnavailable != nil:
		return field.ErrorList{field.Forbidden(path.Child("maxUnavailable"), mustNotUseMaxUnavailableWithDaemonSet)}
	case budget.MinAvailable.Type == intstr.String:
		return field.ErrorList{field.Invalid(path.Child("minAvailable"), budget.MinAvailable.StrVal, mustBeNumberWithDaemonSet)}
	default:
		return nil
	}
}
