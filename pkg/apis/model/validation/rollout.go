// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package validation

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/helper"
)

// progressDeadlineSeconds is the default of a Deployment, which a box leaves alone.
const progressDeadlineSeconds = 600

func validateRollout(spec *model.ModelBoxSpec, path *field.Path) field.ErrorList {
	return slices.Concat(
		validateRollingUpdate(spec.RollingUpdate, path.Child("rollingUpdate")),
		validateMinReadySeconds(spec.MinReadySeconds, path.Child("minReadySeconds")),
	)
}

func validateRollingUpdate(value *model.RollingUpdate, path *field.Path) field.ErrorList {
	if value == nil {
		return nil
	}
	step, ok := helper.RollingUpdateStep(value)
	if !ok {
		return validateRollingUpdateObject(value, path)
	}
	if isRollingStep(step) {
		return nil
	}
	const allowed = `must be a percentage from "1%" to "100%", a number of pods above 0 without quotes, or an object with maxSurge, maxUnavailable or both`
	return field.ErrorList{field.Invalid(path, step.String(), allowed)}
}

// validateRollingUpdateObject has the rules of the Deployment API.
func validateRollingUpdateObject(value *model.RollingUpdate, path *field.Path) field.ErrorList {
	surgePath, unavailablePath := path.Child("maxSurge"), path.Child("maxUnavailable")
	if value.MaxSurge == nil || value.MaxUnavailable == nil {
		return field.ErrorList{field.Required(path, "must have maxSurge, maxUnavailable or both")}
	}
	surge, errs := validatePodsOrPercent(*value.MaxSurge, surgePath)
	unavailable, unavailableErrs := validatePodsOrPercent(*value.MaxUnavailable, unavailablePath)
	errs = append(errs, unavailableErrs...)
	switch {
	case len(errs) > 0:
	case surge == 0 && unavailable == 0:
		errs = append(errs, field.Invalid(unavailablePath, value.MaxUnavailable.String(), "may not be 0 when maxSurge is 0"))
	case value.MaxUnavailable.Type == intstr.String && unavailable > 100:
		errs = append(errs, field.Invalid(unavailablePath, value.MaxUnavailable.String(), "must not be greater than 100%"))
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

// isRollingStep is false for what would let a rolling update move no pod at all: the value is maxSurge, rounded up,
// as well as maxUnavailable, rounded down.
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

func validateMinReadySeconds(seconds *int32, path *field.Path) field.ErrorList {
	if seconds == nil || *seconds >= 0 && *seconds < progressDeadlineSeconds {
		return nil
	}
	detail := fmt.Sprintf("must be between 0 and %d: a rollout that takes %d seconds to progress counts as failed",
		progressDeadlineSeconds-1, progressDeadlineSeconds)
	return field.ErrorList{field.Invalid(path, *seconds, detail)}
}
