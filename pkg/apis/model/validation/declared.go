// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package validation

import (
	"context"

	"k8s.io/apimachinery/pkg/api/operation"
	"k8s.io/apimachinery/pkg/conversion"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model"
	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
)

func validateDeclaredSpec(ctx context.Context, spec, old *model.ModelBoxSpec, path *field.Path) field.ErrorList {
	return validateDeclared(ctx, spec, old, modelv1.Convert_model_ModelBoxSpec_To_v1_ModelBoxSpec, modelv1.Validate_ModelBoxSpec, path)
}

func validateDeclaredStatus(ctx context.Context, status, old *model.ModelBoxStatus, path *field.Path) field.ErrorList {
	return validateDeclared(ctx, status, old, modelv1.Convert_model_ModelBoxStatus_To_v1_ModelBoxStatus, modelv1.Validate_ModelBoxStatus, path)
}

// validateDeclared validates a value by what the tags of the served type say, in the code that is generated from them.
// Of a value that replaces an old one, only the fields that change are validated.
//
// The generic server would run that code by itself, for a strategy that embeds rest.DeclarativeValidation. It would also
// log a difference for each error of ValidateObjectMeta and ValidateConditions that is marked as declared by a tag of
// meta/v1: what is generated from those tags is not to be had outside Kubernetes.
func validateDeclared[Internal, Served any](
	ctx context.Context, value, old *Internal,
	convert func(*Internal, *Served, conversion.Scope) error,
	validate func(context.Context, operation.Operation, *field.Path, *Served, *Served) field.ErrorList,
	path *field.Path,
) field.ErrorList {
	var served, servedOld Served
	if err := convert(value, &served, nil); err != nil {
		return field.ErrorList{field.InternalError(path, err)}
	}
	if old == nil {
		return validate(ctx, operation.Operation{Type: operation.Create}, path, &served, nil)
	}
	if err := convert(old, &servedOld, nil); err != nil {
		return field.ErrorList{field.InternalError(path, err)}
	}
	return validate(ctx, operation.Operation{Type: operation.Update}, path, &served, &servedOld)
}
