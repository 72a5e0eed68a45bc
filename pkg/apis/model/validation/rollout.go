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
	"k8s.io/utils/ptr"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/helper"
	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
)

// maxMinReadySeconds is less than the default progress deadline of a rollout.
const maxMinReadySeconds = modelv1.DefaultProgressDeadlineSeconds - 1

func validateRollout(spec *model.ModelBoxSpec, path *field.Path) field.ErrorList {
	return slices.Concat(
		validateReplicas(spec, path.Child("replicas")),
		validateStrategy(spec, path.Child("strategy")),
		validateRollingUpdate(spec.RollingUpdate, spec.Workload, path.Child("rollingUpdate")),
		validateMinReadySeconds(spec.MinReadySeconds, path.Child("minReadySeconds")),
		validateProgressDeadline(spec, path.Child("progressDeadlineSeconds")),
		validatePodManagementPolicy(spec, path.Child("podManagementPolicy")),
		validateRevisionHistoryLimit(spec.RevisionHistoryLimit, path.Child("revisionHistoryLimit")),
		validateRolloutChecks(spec.Rollout, path.Child("rollout", "checks")),
	)
}

func validateReplicas(spec *model.ModelBoxSpec, path *field.Path) field.ErrorList {
	if spec.Workload != model.WorkloadDaemonSet || spec.Replicas == nil {
		return nil
	}
	return field.ErrorList{field.Forbidden(path, MustNotUseReplicasWithDaemonSet)}
}

func validateStrategy(spec *model.ModelBoxSpec, path *field.Path) field.ErrorList {
	if spec.Workload == model.WorkloadDeployment || spec.Strategy != model.StrategyRecreate {
		return nil
	}
	return field.ErrorList{field.Invalid(path, spec.Strategy, mustBeRollingUpdate(spec.Workload))}
}

func validateMinReadySeconds(seconds *int32, path *field.Path) field.ErrorList {
	if seconds == nil || *seconds >= 0 && *seconds <= maxMinReadySeconds {
		return nil
	}
	detail := fmt.Sprintf("must be between 0 and %d: a rollout that takes %d seconds to progress counts as failed", maxMinReadySeconds, maxMinReadySeconds+1)
	return field.ErrorList{field.Invalid(path, *seconds, detail)}
}

// validateProgressDeadline requires a deadline before which a pod can become available.
func validateProgressDeadline(spec *model.ModelBoxSpec, path *field.Path) field.ErrorList {
	deadline, ready := spec.ProgressDeadlineSeconds, ptr.Deref(spec.MinReadySeconds, 0)
	switch {
	case deadline == nil || *deadline > max(ready, 0):
		return nil
	case *deadline < 1:
		return field.ErrorList{field.Invalid(path, *deadline, "must be at least 1")}
	default:
		return field.ErrorList{field.Invalid(path, *deadline, fmt.Sprintf("must be greater than `minReadySeconds`, which is %d", ready))}
	}
}

func validatePodManagementPolicy(spec *model.ModelBoxSpec, path *field.Path) field.ErrorList {
	if spec.PodManagementPolicy == nil || spec.Workload == model.WorkloadStatefulSet {
		return nil
	}
	return field.ErrorList{field.Forbidden(path, fmt.Sprintf("may not be set when `workload` is '%s': only a StatefulSet orders its pods", spec.Workload))}
}

func validateRevisionHistoryLimit(limit *int32, path *field.Path) field.ErrorList {
	if limit == nil || *limit >= 0 && *limit <= modelv1.MaxRevisionHistoryLimit {
		return nil
	}
	return field.ErrorList{field.Invalid(path, *limit, mustBeBetween(0, int(modelv1.MaxRevisionHistoryLimit)))}
}

// validateRollingUpdate validates a single value for both limits, which is the same for every workload. An object has the rules of
// the API of the workload.
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

// validateRollingStep refuses a value with which a rolling update would replace no pods. In a Deployment, the value is maxSurge,
// rounded up, and maxUnavailable, rounded down. In other workloads, it is maxUnavailable only, which may not be 0 then.
func validateRollingStep(step intstr.IntOrString, workload model.Workload, path *field.Path) field.ErrorList {
	if isRollingStep(step) {
		return nil
	}
	limits := "maxSurge, maxUnavailable or both"
	if workload == model.WorkloadStatefulSet {
		limits = "maxUnavailable"
	}
	return field.ErrorList{field.Invalid(path, step.String(), mustBeRollingStep(limits))}
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
		return field.ErrorList{field.Required(path, mustHaveSurgeOrUnavailable)}
	}
	surge, errs := validatePodsOrPercent(*value.MaxSurge, surgePath)
	unavailable, unavailableErrs := validatePodsOrShare(*value.MaxUnavailable, unavailablePath)
	errs = append(errs, unavailableErrs...)
	if len(errs) == 0 && surge == 0 && unavailable == 0 {
		errs = append(errs, field.Invalid(unavailablePath, value.MaxUnavailable.String(), mustHaveUnavailableOrSurge))
	}
	return errs
}

func validateStatefulSetRollingUpdate(value *model.RollingUpdate, path, surgePath, unavailablePath *field.Path) field.ErrorList {
	if value.MaxSurge == nil && value.MaxUnavailable == nil {
		return field.ErrorList{field.Required(path, mustHaveMaxUnavailable)}
	}
	var errs field.ErrorList
	if value.MaxSurge != nil {
		errs = append(errs, field.Forbidden(surgePath, mustNotUseMaxSurgeOfStatefulSet))
	}
	if value.MaxUnavailable != nil {
		unavailable, unavailableErrs := validatePodsOrShare(*value.MaxUnavailable, unavailablePath)
		if len(unavailableErrs) == 0 && unavailable == 0 {
			unavailableErrs = field.ErrorList{field.Invalid(unavailablePath, value.MaxUnavailable.String(), mustHaveUnavailableOfStatefulSet)}
		}
		errs = append(errs, unavailableErrs...)
	}
	return errs
}

// validateDaemonSetRollingUpdate uses the defaults of the DaemonSet API: a maxSurge of 0 and a maxUnavailable of 1.
func validateDaemonSetRollingUpdate(value *model.RollingUpdate, path, surgePath, unavailablePath *field.Path) field.ErrorList {
	if value.MaxSurge == nil && value.MaxUnavailable == nil {
		return field.ErrorList{field.Required(path, mustHaveSurgeOrUnavailable)}
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
		errs = append(errs, field.Required(unavailablePath, mustSetMaxUnavailableTo0))
	case surge > 0 && unavailable > 0:
		errs = append(errs, field.Invalid(surgePath, value.MaxSurge.String(), mustSetMaxSurgeTo0))
	case surge == 0 && unavailable == 0:
		errs = append(errs, field.Invalid(unavailablePath, value.MaxUnavailable.String(), mustHaveUnavailableOrSurge))
	}
	return errs
}

// validatePodsOrPercent returns the number of pods, or the percentage.
func validatePodsOrPercent(value intstr.IntOrString, path *field.Path) (int, field.ErrorList) {
	number := int(value.IntVal)
	if value.Type == intstr.String {
		var err error
		number, err = strconv.Atoi(strings.TrimSuffix(value.StrVal, "%"))
		if err != nil || len(validation.IsValidPercent(value.StrVal)) > 0 {
			return 0, field.ErrorList{field.Invalid(path, value.StrVal, mustBePodsOrPercentage)}
		}
	}
	return number, apivalidation.ValidateNonnegativeField(int64(value.IntVal), path)
}

// validatePodsOrShare is validatePodsOrPercent with a percentage of at most 100%.
func validatePodsOrShare(value intstr.IntOrString, path *field.Path) (int, field.ErrorList) {
	number, errs := validatePodsOrPercent(value, path)
	if value.Type == intstr.String && number > 100 {
		errs = append(errs, field.Invalid(path, value.String(), mustNotExceed100Percent))
	}
	return number, errs
}
