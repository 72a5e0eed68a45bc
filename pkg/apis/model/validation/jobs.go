// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package validation

import (
	"cmp"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	corevalidation "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/core/validation"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model"
)

const (
	// maxBackoffLimit is so low because every attempt that fails leaves a pod behind.
	maxBackoffLimit = 100
	// maxJobDeadline is a week, like the longest pause of a step.
	maxJobDeadline = int(maxStepPause / time.Second)
)

// validateJobs validates the Jobs before and after a rollout. Their pods are pods of the box, so that only what a Job has itself is
// validated here. Tags of the served type have the minimum of numbers.
func validateJobs(spec *model.ModelBoxSpec, pod corevalidation.PodContext, path *field.Path) field.ErrorList {
	return slices.Concat(
		validateJob(spec.Before, spec, pod, path.Child("before")),
		validateJob(spec.After, spec, pod, path.Child("after")),
	)
}

func validateJob(job *model.ModelBoxJob, spec *model.ModelBoxSpec, pod corevalidation.PodContext, path *field.Path) field.ErrorList {
	if job == nil {
		return nil
	}
	var errs field.ErrorList
	if len(job.Command) == 0 && len(job.Args) == 0 {
		errs = append(errs, field.Required(path.Child("command"), mustHaveCommandOrArgs))
	}
	if limit := job.BackoffLimit; limit != nil && *limit > maxBackoffLimit {
		errs = append(errs, field.Invalid(path.Child("backoffLimit"), *limit, mustBeBetween(0, maxBackoffLimit)))
	}
	if deadline := job.ActiveDeadlineSeconds; deadline != nil && *deadline > int64(maxJobDeadline) {
		errs = append(errs, field.Invalid(path.Child("activeDeadlineSeconds"), *deadline, mustBeBetween(1, maxJobDeadline)))
	}
	container := &corev1.Container{Name: spec.Name, Image: cmp.Or(job.Image, spec.Image)}
	if job.Resources != nil {
		container.Resources = *job.Resources
	}
	return slices.Concat(errs,
		corevalidation.ValidateContainer(container, pod, path),
		corevalidation.ValidateEnv(job.Envs, pod, path.Child("envs")),
	)
}
