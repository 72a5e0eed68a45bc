// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package validation

import (
	"time"

	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/helper"
	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/validate"
)

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
