// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package validation

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/helper"
	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/validate"
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
		validateResize(spec.Resize, path.Child("resize")),
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

const (
	// maxCandidateBoxName is limited by the Service of the candidate, which has the same name as the candidate.
	maxCandidateBoxName = validation.DNS1035LabelMaxLength - len(helper.CandidateNameSuffix)

	// maxStepPause and maxStepPauseText are the longest pause of a step. The pods of both revisions need their resources until it is
	// over. The pause modelv1.PauseManual has no limit.
	maxStepPause     = 7 * 24 * time.Hour
	maxStepPauseText = "168h"
)

// validateRolloutSteps validates the type of the rollouts of a box, and their steps. Tags of the served type have the possible types,
// and the maximum number of steps.
func validateRolloutSteps(box *model.ModelBox, path *field.Path) field.ErrorList {
	rollout := box.Spec.Rollout
	switch {
	case rollout == nil || rollout.Type == nil && len(rollout.Steps) == 0:
		return nil
	case rollout.Type == nil:
		return field.ErrorList{field.Forbidden(path.Child("steps"), mustNotUseStepsWithoutType)}
	}
	errs := validateRolloutType(box, path.Child("type"))
	switch stepsPath := path.Child("steps"); *rollout.Type {
	case model.RolloutCanary:
		errs = append(errs, validateCanarySteps(rollout.Steps, stepsPath)...)
	case model.RolloutBlueGreen:
		errs = append(errs, validateBlueGreenSteps(rollout.Steps, stepsPath)...)
	}
	return errs
}

// validateRolloutType refuses a type for a box that cannot have pods of two revisions side by side. The name of a box cannot change,
// so that the type is what is wrong with a name that is too long for it.
func validateRolloutType(box *model.ModelBox, path *field.Path) field.ErrorList {
	rolloutType := *box.Spec.Rollout.Type
	var errs field.ErrorList
	switch isBlueGreen := rolloutType == model.RolloutBlueGreen; box.Spec.Workload {
	case model.WorkloadStatefulSet:
		if isBlueGreen {
			errs = append(errs, field.Invalid(path, rolloutType, mustBeCanaryWithStatefulSet))
		}
		return errs
	case model.WorkloadDaemonSet:
		if isBlueGreen {
			errs = append(errs, field.Invalid(path, rolloutType, mustBeCanaryWithDaemonSet))
		}
		return errs
	}
	if box.Spec.Strategy == model.StrategyRecreate {
		errs = append(errs, field.Forbidden(path, mustNotUseTypeWithRecreate))
	}
	if len(box.Name) > maxCandidateBoxName {
		errs = append(errs, field.Forbidden(path, mustHaveNameForCandidate(maxCandidateBoxName)))
	}
	return errs
}

func validateCanarySteps(steps []model.ModelBoxRolloutStep, path *field.Path) field.ErrorList {
	if len(steps) == 0 {
		return field.ErrorList{field.Required(path, mustHaveStep)}
	}
	var errs field.ErrorList
	before := int32(0)
	for i := range validate.Each(steps, &errs) {
		step, path := &steps[i], path.Index(i)
		switch weightPath := path.Child("weight"); {
		case step.Weight < 1 || step.Weight > 100:
			errs = append(errs, field.Invalid(weightPath, step.Weight, mustBeBetween(1, 100)))
		case step.Weight < before:
			errs = append(errs, field.Invalid(weightPath, step.Weight, mustNotBeLessThanBefore(before)))
		default:
			before = step.Weight
		}
		errs = append(errs, validateStepPause(step.Pause, path.Child("pause"))...)
	}
	return errs
}

func validateBlueGreenSteps(steps []model.ModelBoxRolloutStep, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	for i := range validate.Each(steps, &errs) {
		step, path := &steps[i], path.Index(i)
		if step.Weight != 0 {
			errs = append(errs, field.Forbidden(path.Child("weight"), mustNotUseWeightWithBlueGreen))
		}
		errs = append(errs, validateStepPause(step.Pause, path.Child("pause"))...)
	}
	return errs
}

func validateStepPause(pause string, path *field.Path) field.ErrorList {
	if pause == "" || pause == modelv1.PauseManual {
		return nil
	}
	if duration, err := time.ParseDuration(pause); err != nil || duration <= 0 || duration > maxStepPause {
		return field.ErrorList{field.Invalid(path, pause, mustBePause)}
	}
	return nil
}

const (
	// maxCheckQueryLength is the length of the longest query of a check, in characters.
	maxCheckQueryLength = 4096

	minCheckInterval = 5 * time.Second
	maxCheckInterval = time.Hour

	mustHaveRolloutType = "may not be set without `rollout.type`: only the steps of a rollout have checks"
	mustHaveCheckLimit  = "must have max, min or both"
)

// validateRolloutChecks validates all but the queries themselves: whether a query is valid, the server decides, which has the parser.
func validateRolloutChecks(rollout *model.ModelBoxRollout, path *field.Path) field.ErrorList {
	if rollout == nil || len(rollout.Checks) == 0 {
		return nil
	}
	var errs field.ErrorList
	if rollout.Type == nil {
		errs = append(errs, field.Forbidden(path, mustHaveRolloutType))
	}
	for i := range rollout.Checks {
		check, path := &rollout.Checks[i], path.Index(i)
		errs = append(errs, validateRolloutCheck(check, path)...)
		isBefore := func(other model.ModelBoxRolloutCheck) bool { return other.Name == check.Name }
		if slices.ContainsFunc(rollout.Checks[:i], isBefore) {
			errs = append(errs, field.Duplicate(path.Child("name"), check.Name))
		}
	}
	return errs
}

func validateRolloutCheck(check *model.ModelBoxRolloutCheck, path *field.Path) field.ErrorList {
	errs := slices.Concat(
		validateCheckName(check.Name, path.Child("name")),
		validateCheckQuery(check.Prometheus.Query, path.Child("prometheus", "query")),
		validateCheckLimits(check, path),
		validateCheckDuration(check.Interval, minCheckInterval, path.Child("interval")),
	)
	if check.InitialDelay != "" {
		errs = append(errs, validateCheckDuration(check.InitialDelay, 0, path.Child("initialDelay"))...)
	}
	if check.Count == nil {
		errs = append(errs, field.Required(path.Child("count"), ""))
	} else if *check.Count < 1 {
		errs = append(errs, field.Invalid(path.Child("count"), *check.Count, "must be at least 1"))
	}
	if check.FailureLimit == nil {
		errs = append(errs, field.Required(path.Child("failureLimit"), ""))
	} else if *check.FailureLimit < 0 {
		errs = append(errs, field.Invalid(path.Child("failureLimit"), *check.FailureLimit, "must not be negative"))
	}
	return errs
}

func validateCheckName(name string, path *field.Path) field.ErrorList {
	if name == "" {
		return field.ErrorList{field.Required(path, "")}
	}
	var errs field.ErrorList
	for _, message := range validation.IsDNS1123Label(name) {
		errs = append(errs, field.Invalid(path, name, message))
	}
	return errs
}

func validateCheckQuery(query string, path *field.Path) field.ErrorList {
	switch {
	case query == "":
		return field.ErrorList{field.Required(path, "")}
	case utf8.RuneCountInString(query) > maxCheckQueryLength:
		return field.ErrorList{field.TooLongMaxLength(path, field.OmitValueType{}, maxCheckQueryLength)}
	default:
		return nil
	}
}

func validateCheckLimits(check *model.ModelBoxRolloutCheck, path *field.Path) field.ErrorList {
	switch {
	case check.Max == nil && check.Min == nil:
		return field.ErrorList{field.Required(path, mustHaveCheckLimit)}
	case check.Max != nil && check.Min != nil && check.Min.Cmp(*check.Max) > 0:
		return field.ErrorList{field.Invalid(path.Child("min"), check.Min.String(), fmt.Sprintf("must not be more than max, which is %s", check.Max))}
	default:
		return nil
	}
}

// validateCheckDuration requires a duration of at least shortest, and of at most the longest interval.
func validateCheckDuration(value string, shortest time.Duration, path *field.Path) field.ErrorList {
	duration, err := time.ParseDuration(value)
	if err != nil || duration < shortest || duration > maxCheckInterval {
		return field.ErrorList{field.Invalid(path, value, fmt.Sprintf("must be a duration, such as '30s', from '%s' to '1h'", shortest))}
	}
	return nil
}
