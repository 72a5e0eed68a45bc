// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

// Package poddebugger defines how PodDebuggers behave as a REST resource: what happens to them between the request and the
// storage, and how they are printed.
package poddebugger

import (
	"context"

	apiequality "k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/apiserver/pkg/storage/names"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model"
	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/validation"
)

// Strategy is the logic that applies when users create, update and delete PodDebuggers.
type Strategy struct {
	runtime.ObjectTyper
	names.NameGenerator
}

// NewStrategy returns a strategy. typer has to know the internal types.
func NewStrategy(typer runtime.ObjectTyper) Strategy {
	return Strategy{typer, names.SimpleNameGenerator}
}

// NamespaceScoped returns true: every PodDebugger lives in a namespace.
func (Strategy) NamespaceScoped() bool { return true }

// GetResetFields returns the fields that users cannot set through the main resource.
func (Strategy) GetResetFields() map[fieldpath.APIVersion]*fieldpath.Set {
	return map[fieldpath.APIVersion]*fieldpath.Set{
		fieldpath.APIVersion(modelv1.SchemeGroupVersion.String()): fieldpath.NewSet(
			fieldpath.MakePathOrDie("status"),
		),
	}
}

// PrepareForCreate replaces the status by that of a PodDebugger which the controller has not seen, and starts the generation
// count.
func (Strategy) PrepareForCreate(_ context.Context, obj runtime.Object) {
	debugger := obj.(*model.PodDebugger)
	debugger.Status = pendingStatus()
	debugger.Generation = 1
}

// pendingStatus says that nothing is known yet.
func pendingStatus() model.PodDebuggerStatus {
	return model.PodDebuggerStatus{Conditions: []metav1.Condition{{
		Type:               modelv1.ConditionReady,
		Status:             metav1.ConditionUnknown,
		Reason:             modelv1.ReasonPending,
		Message:            "the controller has not seen this PodDebugger yet",
		LastTransitionTime: metav1.Now(),
	}}}
}

// PrepareForUpdate keeps the status and counts a change of the spec as a new generation.
func (Strategy) PrepareForUpdate(_ context.Context, obj, old runtime.Object) {
	debugger, oldDebugger := obj.(*model.PodDebugger), old.(*model.PodDebugger)
	debugger.Status = oldDebugger.Status
	if !apiequality.Semantic.DeepEqual(debugger.Spec, oldDebugger.Spec) {
		debugger.Generation = oldDebugger.Generation + 1
	}
}

// Validate checks a new PodDebugger.
func (Strategy) Validate(ctx context.Context, obj runtime.Object) field.ErrorList {
	return validation.TruncateErrors(validation.ValidatePodDebugger(ctx, obj.(*model.PodDebugger)))
}

// ValidateUpdate checks a changed PodDebugger.
func (Strategy) ValidateUpdate(ctx context.Context, obj, old runtime.Object) field.ErrorList {
	return validation.TruncateErrors(validation.ValidatePodDebuggerUpdate(ctx, obj.(*model.PodDebugger), old.(*model.PodDebugger)))
}

// WarningsOnCreate returns no warnings.
func (Strategy) WarningsOnCreate(context.Context, runtime.Object) []string { return nil }

// WarningsOnUpdate returns no warnings.
func (Strategy) WarningsOnUpdate(context.Context, runtime.Object, runtime.Object) []string {
	return nil
}

// Canonicalize leaves the PodDebugger as it is.
func (Strategy) Canonicalize(runtime.Object) {}

// AllowCreateOnUpdate returns false: a PUT does not create a PodDebugger.
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
	debugger, oldDebugger := obj.(*model.PodDebugger), old.(*model.PodDebugger)
	debugger.Spec = oldDebugger.Spec
	metav1.ResetObjectMetaForStatus(&debugger.ObjectMeta, &oldDebugger.ObjectMeta)
}

// ValidateUpdate checks a changed status.
func (StatusStrategy) ValidateUpdate(ctx context.Context, obj, old runtime.Object) field.ErrorList {
	return validation.TruncateErrors(validation.ValidatePodDebuggerStatusUpdate(ctx, obj.(*model.PodDebugger), old.(*model.PodDebugger)))
}
