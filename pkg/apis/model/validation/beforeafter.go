// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package validation

import (
	"cmp"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	corevalidation "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/core/validation"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model"
	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
)

// jobImage is the image of a Job without one in the rules for containers, which require an image. The image of the box has errors of
// its own.
const jobImage = "image-of-the-box"

// validateJobs validates the Jobs of a box. pod is the context of the pods of the box: a Job has the same volumes.
func validateJobs(spec *model.ModelBoxSpec, pod corevalidation.PodContext, path *field.Path) field.ErrorList {
	return slices.Concat(
		validateJob(spec.Before, spec.Name, pod, path.Child("before")),
		validateJob(spec.After, spec.Name, pod, path.Child("after")),
	)
}

// validateJob validates all but the lower limits of numbers, which tags of the served type have.
func validateJob(job *model.ModelBoxJob, name string, pod corevalidation.PodContext, path *field.Path) field.ErrorList {
	if job == nil {
		return nil
	}
	var errs field.ErrorList
	if len(job.Command) == 0 && len(job.Args) == 0 {
		errs = append(errs, field.Required(path.Child("command"), mustHaveCommandOrArgs))
	}
	container := &corev1.Container{Name: name, Image: cmp.Or(job.Image, jobImage)}
	if job.Resources != nil {
		container.Resources = *job.Resources
	}
	return slices.Concat(errs,
		corevalidation.ValidateContainer(container, pod, path),
		corevalidation.ValidateEnv(job.Envs, pod, path.Child("envs")),
		validateAtMost(job.BackoffLimit, modelv1.MaxBackoffLimit, path.Child("backoffLimit")),
		validateAtMost(job.ActiveDeadlineSeconds, modelv1.MaxJobDeadlineSeconds, path.Child("activeDeadlineSeconds")),
	)
}

func validateAtMost[T int32 | int64](value *T, maximum T, path *field.Path) field.ErrorList {
	if value == nil || *value <= maximum {
		return nil
	}
	return field.ErrorList{field.Invalid(path, *value, mustBeAtMost(int64(maximum)))}
}
