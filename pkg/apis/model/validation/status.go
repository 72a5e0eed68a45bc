// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package validation

import (
	"context"
	"slices"

	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	metav1validation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model"
)

// ValidateModelBoxStatusUpdate returns what is wrong with changing the status of old into that of box. The spec is
// not looked at: the status of every box that exists can be written.
func ValidateModelBoxStatusUpdate(ctx context.Context, box, old *model.ModelBox) field.ErrorList {
	return slices.Concat(
		apivalidation.ValidateObjectMetaUpdate(&box.ObjectMeta, &old.ObjectMeta, field.NewPath("metadata")),
		validateDeclaredStatus(ctx, &box.Status, &old.Status, field.NewPath("status")),
		metav1validation.ValidateConditions(box.Status.Conditions, field.NewPath("status", "conditions")),
	)
}
