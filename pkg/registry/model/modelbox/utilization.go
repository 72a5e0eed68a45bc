// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package modelbox

import (
	"context"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/validation"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/render/boxview"
)

// validateUtilization checks what the pods of a valid box, whose spec is at path, request for its autoscaler, its overlay
// included.
func validateUtilization(ctx context.Context, box *model.ModelBox, path *field.Path) field.ErrorList {
	if box.Spec.Autoscaling == nil {
		return nil
	}
	template, err := boxview.PodTemplate(ctx, box)
	if err != nil {
		return field.ErrorList{field.InternalError(path, err)}
	}
	return validation.ValidateUtilization(&box.Spec, &template.Spec, path)
}

// validateUtilizationUpdate validates a changed box. It ignores unchanged fields that were invalid in the old box already.
func validateUtilizationUpdate(ctx context.Context, box, old *model.ModelBox, path *field.Path) field.ErrorList {
	errs := validateUtilization(ctx, box, path)
	if len(errs) == 0 {
		return nil
	}
	served, err := boxview.V1(box)
	if err != nil {
		return field.ErrorList{field.InternalError(path, err)}
	}
	servedOld, err := boxview.V1(old)
	if err != nil {
		return field.ErrorList{field.InternalError(path, err)}
	}
	return validation.Ratchet(path, &served.Spec, &servedOld.Spec, errs, validateUtilization(ctx, old, path))
}
