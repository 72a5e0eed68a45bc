// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package validation

import (
	"context"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apimachineryvalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	corevalidation "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/core/validation"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model"
	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
)

// ValidateModelBoxDebug validates a request for an ephemeral container without a pod.
func ValidateModelBoxDebug(ctx context.Context, debug *model.ModelBoxDebug) field.ErrorList {
	if errs := validateDebugLimits(debug); len(errs) > 0 {
		return errs
	}
	container := &corev1.Container{Image: debug.Image, ImagePullPolicy: debug.ImagePullPolicy, Env: debug.Env}
	errs := slices.Concat(
		corevalidation.ValidateContainer(container, corevalidation.NewPodContext(&corev1.PodSpec{}), nil),
		validateDeclared(ctx, debug, nil, modelv1.Convert_model_ModelBoxDebug_To_v1_ModelBoxDebug, modelv1.Validate_ModelBoxDebug, nil),
	)
	if debug.AllPods && debug.Pod != "" {
		errs = append(errs, field.Forbidden(field.NewPath("pod"), mustNotUseWithAllPods))
	}
	if debug.TTY && !debug.Stdin {
		errs = append(errs, field.Forbidden(field.NewPath("tty"), mustUseWithStdin))
	}
	return errs
}

// validateDebugLimits requires the limits of a container of a box.
func validateDebugLimits(debug *model.ModelBoxDebug) field.ErrorList {
	var errs field.ErrorList
	if maximum := maxima["Container.image"]; len(debug.Image) > maximum {
		errs = append(errs, field.TooLong(field.NewPath("image"), field.OmitValueType{}, maximum))
	}
	for _, list := range []struct {
		name   string
		length int
	}{
		{"command", len(debug.Command)},
		{"args", len(debug.Args)},
		{"env", len(debug.Env)},
	} {
		if maximum := maxima["Container."+list.name]; list.length > maximum {
			errs = append(errs, field.TooMany(field.NewPath(list.name), list.length, maximum))
		}
	}
	return errs
}

// maxLogRequests is the maximum number of logs that a request can follow at the same time.
const maxLogRequests = 1000

// ValidateModelBoxLogOptions validates the options of a request for logs, as the API does for pods/log.
func ValidateModelBoxLogOptions(options *model.ModelBoxLogOptions) field.ErrorList {
	var errs field.ErrorList
	if options.AllContainers && options.Container != "" {
		errs = append(errs, field.Forbidden(field.NewPath("container"), mustNotUseWithAllContainers))
	}
	if options.Previous && options.Follow {
		errs = append(errs, field.Forbidden(field.NewPath("follow"), mustNotFollowPrevious))
	}
	if options.TailLines != nil {
		errs = append(errs, apimachineryvalidation.ValidateNonnegativeField(*options.TailLines, field.NewPath("tailLines"))...)
	}
	if options.LimitBytes != nil && *options.LimitBytes < 1 {
		errs = append(errs, field.Invalid(field.NewPath("limitBytes"), *options.LimitBytes, mustBeAbove0))
	}
	switch {
	case options.SinceSeconds != nil && options.SinceTime != nil:
		errs = append(errs, field.Forbidden(field.NewPath("sinceSeconds"), mustNotUseWithSinceTime))
	case options.SinceSeconds != nil && *options.SinceSeconds < 1:
		errs = append(errs, field.Invalid(field.NewPath("sinceSeconds"), *options.SinceSeconds, mustBeAbove0))
	}
	if limit := options.MaxLogRequests; limit != nil && (*limit < 1 || *limit > maxLogRequests) {
		errs = append(errs, field.Invalid(field.NewPath("maxLogRequests"), *limit, mustBeBetween(1, maxLogRequests)))
	}
	return errs
}
