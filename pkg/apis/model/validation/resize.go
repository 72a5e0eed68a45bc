// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package validation

import (
	"fmt"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model"
)

// validateResize refuses a resize in place of the pods of a StatefulSet or a DaemonSet, and a timeout that nothing follows.
func validateResize(spec *model.ModelBoxSpec, path *field.Path) field.ErrorList {
	resize := spec.Resize
	if resize == nil {
		return nil
	}
	var errs field.ErrorList
	if resize.Mode != model.ResizeRestart && spec.Workload != model.WorkloadDeployment {
		errs = append(errs, field.Invalid(path.Child("mode"), resize.Mode, fmt.Sprintf("must be '%s' when `workload` is '%s'", model.ResizeRestart, spec.Workload)))
	}
	switch timeout := resize.TimeoutSeconds; {
	case timeout == nil:
	case resize.Mode != model.ResizeInPlaceOrRestart:
		errs = append(errs, field.Forbidden(path.Child("timeoutSeconds"), fmt.Sprintf("may only be set when `mode` is '%s'", model.ResizeInPlaceOrRestart)))
	case *timeout < 1:
		errs = append(errs, field.Invalid(path.Child("timeoutSeconds"), *timeout, "must be at least 1"))
	}
	return errs
}
