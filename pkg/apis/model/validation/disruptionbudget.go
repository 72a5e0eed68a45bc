// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package validation

import (
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/validate"
)

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
		return field.ErrorList{field.Forbidden(path.Child("maxUnavailable"), "may not be set when `workload` is 'DaemonSet': every eviction would be refused; use a minAvailable that is a number")}
	case budget.MinAvailable.Type == intstr.String:
		return field.ErrorList{field.Invalid(path.Child("minAvailable"), budget.MinAvailable.StrVal, "must be a number when `workload` is 'DaemonSet': every eviction would be refused otherwise")}
	default:
		return nil
	}
}
