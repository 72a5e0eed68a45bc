// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package validation

import (
	apimachineryvalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model"
)

// maxLogRequests is how many logs can be asked for at a time.
const maxLogRequests = 1000

// ValidateModelBoxLogOptions returns what is wrong with the options of a request for logs. What pods/log refuses is refused alike.
func ValidateModelBoxLogOptions(options *model.ModelBoxLogOptions) field.ErrorList {
	var errs field.ErrorList
	if options.AllContainers && options.Container != "" {
		errs = append(errs, field.Forbidden(field.NewPath("container"), "may not be specified together with allContainers"))
	}
	if options.Previous && options.Follow {
		errs = append(errs, field.Forbidden(field.NewPath("follow"), "may not be specified together with previous: what has ended does not go on"))
	}
	if options.TailLines != nil {
		errs = append(errs, apimachineryvalidation.ValidateNonnegativeField(*options.TailLines, field.NewPath("tailLines"))...)
	}
	if options.LimitBytes != nil && *options.LimitBytes < 1 {
		errs = append(errs, field.Invalid(field.NewPath("limitBytes"), *options.LimitBytes, "must be greater than 0"))
	}
	switch {
	case options.SinceSeconds != nil && options.SinceTime != nil:
		errs = append(errs, field.Forbidden(field.NewPath("sinceSeconds"), "may not be specified together with sinceTime"))
	case options.SinceSeconds != nil && *options.SinceSeconds < 1:
		errs = append(errs, field.Invalid(field.NewPath("sinceSeconds"), *options.SinceSeconds, "must be greater than 0"))
	}
	if limit := options.MaxLogRequests; limit != nil && (*limit < 1 || *limit > maxLogRequests) {
		errs = append(errs, field.Invalid(field.NewPath("maxLogRequests"), *limit, "must be between 1 and 1000"))
	}
	return errs
}
