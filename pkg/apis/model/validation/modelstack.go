// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package validation

import (
	"context"
	"slices"

	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	metav1validation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	corevalidation "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/core/validation"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model"
	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
)

// ValidateModelStackName returns what is wrong with the name of a stack, or with the start of a generated name if prefix
// is true. The names of boxes begin with it, so it must be a DNS-1035 label.
func ValidateModelStackName(name string, prefix bool) []string {
	return apivalidation.NameIsDNS1035Label(name, prefix)
}

// ValidateStackLimits returns which lists, maps and strings of a stack are larger than they may be, those of its boxes
// included. It costs little, and what it accepts the other rules can afford to validate.
func ValidateStackLimits(stack *model.ModelStack) field.ErrorList {
	return findExcesses(&stack.ObjectMeta, &stack.Spec).errors(nil)
}

// ValidateStackLimitsUpdate is ValidateStackLimits of a stack that replaces old. What was larger already may stay, but not
// grow.
func ValidateStackLimitsUpdate(stack, old *model.ModelStack) field.ErrorList {
	return findExcesses(&stack.ObjectMeta, &stack.Spec).newErrors(func() excesses { return findExcesses(&old.ObjectMeta, &old.Spec) })
}

// ValidateModelStack returns what is wrong with a stack that is to be created. What is in its boxes is not looked at.
func ValidateModelStack(ctx context.Context, stack *model.ModelStack) field.ErrorList {
	return slices.Concat(
		apivalidation.ValidateObjectMeta(&stack.ObjectMeta, true, ValidateModelStackName, field.NewPath("metadata")),
		corevalidation.ValidateFinalizerNames(stack.Finalizers, field.NewPath("metadata", "finalizers")),
		validateAnnotations(stack.Annotations, field.NewPath("metadata", "annotations")),
		validateDeclaredStackSpec(ctx, &stack.Spec, nil, field.NewPath("spec")),
		validateComponents(stack, field.NewPath("spec", "components")),
	)
}

// ValidateModelStackUpdate returns what is wrong with changing old into stack. What was wrong already is not counted, and
// what is in the boxes is not looked at.
func ValidateModelStackUpdate(ctx context.Context, stack, old *model.ModelStack) field.ErrorList {
	return slices.Concat(
		apivalidation.ValidateObjectMetaUpdate(&stack.ObjectMeta, &old.ObjectMeta, field.NewPath("metadata")),
		validateFinalizersUpdate(stack.Finalizers, old.Finalizers, field.NewPath("metadata", "finalizers")),
		validateAnnotationsUpdate(stack.Annotations, old.Annotations, field.NewPath("metadata", "annotations")),
		validateDeclaredStackSpec(ctx, &stack.Spec, &old.Spec, field.NewPath("spec")),
		validateComponentsUpdate(stack, old, field.NewPath("spec", "components")),
	)
}

// ValidateModelStackStatusUpdate returns what is wrong with changing the status of old into that of stack. The spec is
// not looked at: the status of every stack that exists can be written.
func ValidateModelStackStatusUpdate(ctx context.Context, stack, old *model.ModelStack) field.ErrorList {
	return slices.Concat(
		apivalidation.ValidateObjectMetaUpdate(&stack.ObjectMeta, &old.ObjectMeta, field.NewPath("metadata")),
		validateDeclared(ctx, &stack.Status, &old.Status,
			modelv1.Convert_model_ModelStackStatus_To_v1_ModelStackStatus, modelv1.Validate_ModelStackStatus, field.NewPath("status")),
		metav1validation.ValidateConditions(stack.Status.Conditions, field.NewPath("status", "conditions")),
	)
}

func validateDeclaredStackSpec(ctx context.Context, spec, old *model.ModelStackSpec, path *field.Path) field.ErrorList {
	return validateDeclared(ctx, spec, old, modelv1.Convert_model_ModelStackSpec_To_v1_ModelStackSpec, modelv1.Validate_ModelStackSpec, path)
}
