// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

// Package modelstack defines how ModelStacks behave as a REST resource: what happens to them between the request and the
// storage, how they are selected, and how they are printed.
package modelstack

import (
	"context"
	"slices"

	apiequality "k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/validation"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/registry/model/modelbox"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/registry/model/resource"
)

// Strategy is the logic that applies when users create, update and delete ModelStacks.
type Strategy struct {
	resource.Strategy
	boxes  modelbox.Strategy
	getBox GetBox
}

// NewStrategy returns the strategy of the main resource. typer must know the internal types. boxes is the strategy of boxes, which
// applies to the boxes of components as well. getBox returns existing boxes.
func NewStrategy(typer runtime.ObjectTyper, boxes modelbox.Strategy, getBox GetBox) Strategy {
	return Strategy{resource.NewStrategy(typer), boxes, getBox}
}

// PrepareForCreate replaces the status by the initial status, sets the generation to 1, and names the boxes that have no name.
func (Strategy) PrepareForCreate(_ context.Context, obj runtime.Object) {
	stack := obj.(*model.ModelStack)
	stack.Status = model.ModelStackStatus{Conditions: resource.PendingConditions("stack")}
	stack.Generation = 1
	nameBoxes(stack, nil)
	releaseFinalizers(stack, nil)
}

// PrepareForUpdate keeps the status and the names of boxes that the update leaves out, lets a stack go that nothing has to
// be deleted of in order, and counts a change of the spec as a new generation.
func (Strategy) PrepareForUpdate(_ context.Context, obj, old runtime.Object) {
	stack, oldStack := obj.(*model.ModelStack), old.(*model.ModelStack)
	stack.Status = oldStack.Status
	nameBoxes(stack, oldStack)
	releaseFinalizers(stack, oldStack)
	if !apiequality.Semantic.DeepEqual(stack.Spec, oldStack.Spec) {
		stack.Generation = oldStack.Generation + 1
	}
}

// Validate checks a new stack, first of all whether the other rules can afford to look at it.
func (s Strategy) Validate(ctx context.Context, obj runtime.Object) field.ErrorList {
	stack := obj.(*model.ModelStack)
	errs := validateSize(stack, nil)
	if len(errs) == 0 {
		errs = validation.ValidateStackLimits(stack)
	}
	if len(errs) == 0 {
		errs = append(validation.ValidateModelStack(ctx, stack), s.validateBoxes(ctx, stack, nil)...)
	}
	return validation.TruncateErrors(errs)
}

// ValidateUpdate validates a changed stack. It ignores unchanged fields that were invalid before.
func (s Strategy) ValidateUpdate(ctx context.Context, obj, old runtime.Object) field.ErrorList {
	stack, oldStack := obj.(*model.ModelStack), old.(*model.ModelStack)
	errs := validateSize(stack, oldStack)
	if len(errs) == 0 {
		errs = validation.ValidateStackLimitsUpdate(stack, oldStack)
	}
	if len(errs) == 0 {
		errs = slices.Concat(
			validation.ValidateModelStackUpdate(ctx, stack, oldStack),
			s.validateBoxes(ctx, stack, oldStack),
			validateClientSideApply(stack, oldStack),
		)
	}
	return validation.TruncateErrors(errs)
}

// WarningsOnCreate returns what the user of a new stack may not expect.
func (s Strategy) WarningsOnCreate(ctx context.Context, obj runtime.Object) []string {
	return s.warningsOnCreate(ctx, obj.(*model.ModelStack))
}

// WarningsOnUpdate returns what the update will do to boxes and their pods, and what its user may not expect.
func (s Strategy) WarningsOnUpdate(ctx context.Context, obj, old runtime.Object) []string {
	return s.warningsOnUpdate(ctx, obj.(*model.ModelStack), old.(*model.ModelStack))
}

// NewStatusStrategy returns the strategy of the status subresource.
func NewStatusStrategy(strategy Strategy) resource.StatusStrategy[*model.ModelStack] {
	keepSpec := func(stack, old *model.ModelStack) { stack.Spec = old.Spec }
	return resource.NewStatusStrategy(strategy, keepSpec, validation.ValidateModelStackStatusUpdate)
}
