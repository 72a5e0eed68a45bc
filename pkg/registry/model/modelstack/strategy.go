// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

// Package modelstack defines how ModelStacks behave as a REST resource: what happens to them between the request and the
// storage, how they are selected, and how they are printed.
package modelstack

import (
	"context"
	"slices"

	apiequality "k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/apiserver/pkg/storage/names"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model"
	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/validation"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/registry/model/modelbox"
)

// Strategy is the logic that applies when users create, update and delete ModelStacks.
type Strategy struct {
	runtime.ObjectTyper
	names.NameGenerator
	boxes  modelbox.Strategy
	getBox GetBox
}

// NewStrategy returns the strategy of the main resource. typer has to know the internal types; boxes is the strategy of boxes,
// which those of the components are held to; getBox is asked for the boxes that there are.
func NewStrategy(typer runtime.ObjectTyper, boxes modelbox.Strategy, getBox GetBox) Strategy {
	return Strategy{typer, names.SimpleNameGenerator, boxes, getBox}
}

// NamespaceScoped returns true: every stack lives in a namespace.
func (Strategy) NamespaceScoped() bool { return true }

// GetResetFields returns the fields that users cannot set through the main resource.
func (Strategy) GetResetFields() map[fieldpath.APIVersion]*fieldpath.Set {
	return map[fieldpath.APIVersion]*fieldpath.Set{
		fieldpath.APIVersion(modelv1.SchemeGroupVersion.String()): fieldpath.NewSet(
			fieldpath.MakePathOrDie("status"),
		),
	}
}

// PrepareForCreate replaces the status by that of a stack which the controller has not seen, starts the generation count,
// and names the boxes that have no name.
func (Strategy) PrepareForCreate(_ context.Context, obj runtime.Object) {
	stack := obj.(*model.ModelStack)
	stack.Status = pendingStatus()
	stack.Generation = 1
	nameBoxes(stack, nil)
	releaseFinalizers(stack, nil)
}

// pendingStatus says that nothing is known yet. Without it, what waits for a stack could take one without a status for
// one that has nothing to report.
func pendingStatus() model.ModelStackStatus {
	return model.ModelStackStatus{Conditions: []metav1.Condition{{
		Type:               modelv1.ConditionReady,
		Status:             metav1.ConditionUnknown,
		Reason:             modelv1.ReasonPending,
		Message:            "the controller has not seen this stack yet",
		LastTransitionTime: metav1.Now(),
	}}}
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

// ValidateUpdate checks a changed stack. What was wrong with it already does not count.
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

// Canonicalize leaves the stack as it is.
func (Strategy) Canonicalize(runtime.Object) {}

// AllowCreateOnUpdate returns false: a PUT does not create a stack.
func (Strategy) AllowCreateOnUpdate(context.Context) bool { return false }

// AllowUnconditionalUpdate returns true: a PUT without a resourceVersion replaces what is there.
func (Strategy) AllowUnconditionalUpdate(context.Context) bool { return true }

// StatusStrategy is the logic that applies when the status subresource is updated.
type StatusStrategy struct {
	Strategy
}

// NewStatusStrategy returns the strategy of the status subresource.
func NewStatusStrategy(strategy Strategy) StatusStrategy {
	return StatusStrategy{strategy}
}

// GetResetFields returns the fields that cannot be set through the status subresource.
func (StatusStrategy) GetResetFields() map[fieldpath.APIVersion]*fieldpath.Set {
	return map[fieldpath.APIVersion]*fieldpath.Set{
		fieldpath.APIVersion(modelv1.SchemeGroupVersion.String()): fieldpath.NewSet(
			fieldpath.MakePathOrDie("spec"),
			fieldpath.MakePathOrDie("metadata"),
		),
	}
}

// PrepareForUpdate keeps everything but the status.
func (StatusStrategy) PrepareForUpdate(_ context.Context, obj, old runtime.Object) {
	stack, oldStack := obj.(*model.ModelStack), old.(*model.ModelStack)
	stack.Spec = oldStack.Spec
	metav1.ResetObjectMetaForStatus(&stack.ObjectMeta, &oldStack.ObjectMeta)
}

// WarningsOnUpdate returns no warnings: who writes a status cannot do anything about the spec.
func (StatusStrategy) WarningsOnUpdate(context.Context, runtime.Object, runtime.Object) []string {
	return nil
}

// ValidateUpdate checks a changed status.
func (StatusStrategy) ValidateUpdate(ctx context.Context, obj, old runtime.Object) field.ErrorList {
	return validation.TruncateErrors(validation.ValidateModelStackStatusUpdate(ctx, obj.(*model.ModelStack), old.(*model.ModelStack)))
}
