// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package validation

import (
	"strconv"
	"strings"

	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/helper"
)

// validateRollingUpdate validates one value for both limits, of any workload, and leaves an object to the rules of the API of
// the workload.
func validateRollingUpdate(value *model.RollingUpdate, workload model.Workload, path *field.Path) field.ErrorList {
	if value == nil {
		return nil
	}
	if step, ok := helper.RollingUpdateStep(value); ok {
		return validateRollingStep(step, workload, path)
	}
	surgePath, unavailablePath := path.Child("maxSurge"), path.Child("maxUnavailable")
	switch workload {
	case model.WorkloadStatefulSet:
		return validateStatefulSetRollingUpdate(value, path, surgePath, unavailablePath)
	case model.WorkloadDaemonSet:
		return validateDaemonSetRollingUpdate(value, path, surgePath, unavailablePath)
	default:
		return validateDeploymentRollingUpdate(value, path, surgePath, unavailablePath)
	}
}

// validateRollingStep refuses what would let a rolling update move no pod at all. The value is maxSurge of a Deployment,
// rounded up, as well as maxUnavailable, rounded down; maxUnavailable of any other workload may not be 0 for it alone.
func validateRollingStep(step intstr.IntOrString, workload model.Workload, path *field.Path) field.ErrorList {
	if isRollingStep(step) {
		return nil
	}
	limits := "maxSurge, maxUnavailable or both"
	if workload == model.WorkloadStatefulSet {
		limits = "maxUnavailable"
	}
	return field.ErrorList{field.Invalid(path, step.String(),
		`must be a percentage from "1%" to "100%", a number of pods above 0 without quotes, or an object with `+limits)}
}

func isRollingStep(value intstr.IntOrString) bool {
	if value.Type == intstr.Int {
		return value.IntVal > 0
	}
	if len(validation.IsValidPercent(value.StrVal)) > 0 {
		return false
	}
	percent, err := strconv.Atoi(strings.TrimSuffix(value.StrVal, "%"))
	return err == nil && percent >= 1 && percent <= 100
}

func validateDeploymentRollingUpdate(value *model.RollingUpdate, path, surgePath, unavailablePath *field.Path) field.ErrorList {
	if value.MaxSurge == nil || value.MaxUnavailable == nil {
		return field.ErrorList{field.Required(path, "must have maxSurge, maxUnavailable or both")}
	}
	surge, errs := validatePodsOrPercent(*value.MaxSurge, surgePath)
	unavailable, unavailableErrs := validatePodsOrShare(*value.MaxUnavailable, unavailablePath)
	errs = append(errs, unavailableErrs...)
	if len(errs) == 0 && surge == 0 && unavailable == 0 {
		errs = append(errs, field.Invalid(unavailablePath, value.MaxUnavailable.String(), "may not be 0 when maxSurge is 0"))
	}
	return errs
}

func validateStatefulSetRollingUpdate(value *model.RollingUpdate, path, surgePath, unavailablePath *field.Path) field.ErrorList {
	if value.MaxSurge == nil && value.MaxUnavailable == nil {
		return field.ErrorList{field.Required(path, "must have maxUnavailable")}
	}
	var errs field.ErrorList
	if value.MaxSurge != nil {
		errs = append(errs, field.Forbidden(surgePath, "may not be set when `workload` is 'StatefulSet': a pod with the name of another one can only follow it"))
	}
	if value.MaxUnavailable != nil {
		unavailable, unavailableErrs := validatePodsOrShare(*value.MaxUnavailable, unavailablePath)
		if len(unavailableErrs) == 0 && unavailable == 0 {
			unavailableErrs = field.ErrorList{field.Invalid(unavailablePath, value.MaxUnavailable.String(), "may not be 0 when `workload` is 'StatefulSet'")}
		}
		errs = append(errs, unavailableErrs...)
	}
	return errs
}

// validateDaemonSetRollingUpdate knows the defaults of the DaemonSet API: a maxSurge of 0 and a maxUnavailable of 1.
func validateDaemonSetRollingUpdate(value *model.RollingUpdate, path, surgePath, unavailablePath *field.Path) field.ErrorList {
	if value.MaxSurge == nil && value.MaxUnavailable == nil {
		return field.ErrorList{field.Required(path, "must have maxSurge, maxUnavailable or both")}
	}
	surge, unavailable := 0, 1
	var errs field.ErrorList
	if value.MaxSurge != nil {
		surge, errs = validatePodsOrShare(*value.MaxSurge, surgePath)
	}
	if value.MaxUnavailable != nil {
		var unavailableErrs field.ErrorList
		unavailable, unavailableErrs = validatePodsOrShare(*value.MaxUnavailable, unavailablePath)
		errs = append(errs, unavailableErrs...)
	}
	switch {
	case len(errs) > 0:
	case surge > 0 && value.MaxUnavailable == nil:
		errs = append(errs, field.Required(unavailablePath, "must be 0 when maxSurge is not and `workload` is 'DaemonSet': the default is 1"))
	case surge > 0 && unavailable > 0:
		errs = append(errs, field.Invalid(surgePath, value.MaxSurge.String(), "must be 0 when maxUnavailable is not and `workload` is 'DaemonSet'"))
	case surge == 0 && unavailable == 0:
		errs = append(errs, field.Invalid(unavailablePath, value.MaxUnavailable.String(), "may not be 0 when maxSurge is 0"))
	}
	return errs
}

// validatePodsOrPercent returns the number of a value, of pods or percent.
func validatePodsOrPercent(value intstr.IntOrString, path *field.Path) (int, field.ErrorList) {
	number := int(value.IntVal)
	if value.Type == intstr.String {
		var err error
		number, err = strconv.Atoi(strings.TrimSuffix(value.StrVal, "%"))
		if err != nil || len(validation.IsValidPercent(value.StrVal)) > 0 {
			return 0, field.ErrorList{field.Invalid(path, value.StrVal, `must be a number of pods without quotes, or a percentage such as "25%"`)}
		}
	}
	return number, apivalidation.ValidateNonnegativeField(int64(value.IntVal), path)
}

// validatePodsOrShare is validatePodsOrPercent where a percentage is at most 100%.
func validatePodsOrShare(value intstr.IntOrString, path *field.Path) (int, field.ErrorList) {
	number, errs := validatePodsOrPercent(value, path)
	if value.Type == intstr.String && number > 100 {
		errs = append(errs, field.Invalid(path, value.String(), "must not be greater than 100%"))
	}
	return number, errs
}
