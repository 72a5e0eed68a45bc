// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package validation

import (
	"fmt"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model"
)

// validateResize refuses a timeout that nothing follows.
func validateResize(resize *model.ModelBoxResize, path *field.Path) field.ErrorList {
	if resize == nil {
		return nil
	}
	var errs field.ErrorList
	switch timeout := resize.TimeoutSeconds; {
	case timeout == nil:
	case resize.Mode != model.ResizeInPlaceOrRestart:
		errs = append(errs, field.Forbidden(path.Child("timeoutSeconds"), fmt.Sprintf("may only be set when `mode` is '%s'", model.ResizeInPlaceOrRestart)))
	case *timeout < 1:
		errs = append(errs, field.Invalid(path.Child("timeoutSeconds"), *timeout, "must be at least 1"))
	}
	return errs
}
