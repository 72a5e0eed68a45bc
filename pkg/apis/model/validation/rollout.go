// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package validation

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model"
)

// progressDeadlineSeconds is the default of a Deployment, which a box leaves alone.
const progressDeadlineSeconds = 600

func validateRollout(spec *model.ModelBoxSpec, path *field.Path) field.ErrorList {
	return slices.Concat(
		validateRollingUpdate(spec.RollingUpdate, path.Child("rollingUpdate")),
		validateMinReadySeconds(spec.MinReadySeconds, path.Child("minReadySeconds")),
	)
}

func validateRollingUpdate(value *intstr.IntOrString, path *field.Path) field.ErrorList {
	if value == nil || isRollingStep(*value) {
		return nil
	}
	const allowed = `must be a percentage from "1%" to "100%", or a number of pods above 0 without quotes`
	return field.ErrorList{field.Invalid(path, value.String(), allowed)}
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
