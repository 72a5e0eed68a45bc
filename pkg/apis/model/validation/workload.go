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

// maxStatefulSetName leaves room in the label controller-revision-hash, of which the value is the name of a StatefulSet,
// a '-' and a hash of up to ten digits. Kubernetes takes longer names, and then creates no pods. The name of the headless
// Service is not longer than such a label.
const maxStatefulSetName = validation.LabelValueMaxLength - len("-0123456789")

// validateWorkloadName validates the name of a box as that of its workload, beyond what is true of every box.
func validateWorkloadName(box *model.ModelBox, path *field.Path) field.ErrorList {
	if box.Spec.Workload != model.WorkloadStatefulSet || len(box.Name) <= maxStatefulSetName {
		return nil
	}
	detail := fmt.Sprintf("must be no more than %d characters when `workload` is 'StatefulSet': its pods have a label of the name and a hash", maxStatefulSetName)
	return field.ErrorList{field.Invalid(path, box.Name, detail)}
}

// validateWorkloadUpdate refuses what a workload cannot change of while it stays the one that it is.
func validateWorkloadUpdate(spec, old *model.ModelBoxSpec, path *field.Path) field.ErrorList {
	return slices.Concat(
		apivalidation.ValidateImmutableField(spec.Workload, old.Workload, path.Child("workload")),
		validateGoverningServiceUpdate(spec, old, path.Child("serviceType")),
	)
}

// validateGoverningServiceUpdate keeps the headless Service by which the pods of a StatefulSet have their names what it
// is: the box's own one, or the one beside it.
func validateGoverningServiceUpdate(spec, old *model.ModelBoxSpec, path *field.Path) field.ErrorList {
	isHeadless, wasHeadless := spec.ServiceType == model.ServiceTypeHeadless, old.ServiceType == model.ServiceTypeHeadless
	if spec.Workload != model.WorkloadStatefulSet || old.Workload != model.WorkloadStatefulSet || isHeadless == wasHeadless {
		return nil
	}
	return field.ErrorList{field.Forbidden(path, mustNotChangeGoverningService)}
}

// validateDisruptionBudget requires one limit that a PodDisruptionBudget can have, and that Kubernetes can count the pods of.
func validateDisruptionBudget(spec *model.ModelBoxSpec, path *field.Path) field.ErrorList {
	budget, path := spec.DisruptionBudget, path.Child("disruptionBudget")
	if budget == nil {
		return nil
	}
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
	// Its controller has no scale, by which Kubernetes would count how many pods there should be.
	switch {
	case budget.MaxUnavailable != nil:
		return field.ErrorList{field.Forbidden(path.Child("maxUnavailable"), mustNotUseMaxUnavailableWithDaemonSet)}
	case budget.MinAvailable.Type == intstr.String:
		return field.ErrorList{field.Invalid(path.Child("minAvailable"), budget.MinAvailable.StrVal, mustBeNumberWithDaemonSet)}
	default:
		return nil
	}
}
