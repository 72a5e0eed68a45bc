// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

// Package poddebugger defines how PodDebuggers behave as a REST resource: what happens to them between the request and the
// storage, and how they are printed.
package poddebugger

import (
	"context"

	apiequality "k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/validation"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/registry/model/resource"
)

// Strategy is the logic that applies when users create, update and delete PodDebuggers.
type Strategy struct {
	resource.Strategy
}

// NewStrategy returns a strategy. typer has to know the internal types.
func NewStrategy(typer runtime.ObjectTyper) Strategy {
	return Strategy{resource.NewStrategy(typer)}
}

// PrepareForCreate replaces the status by the initial status, and sets the generation to 1.
func (Strategy) PrepareForCreate(_ context.Context, obj runtime.Object) {
	debugger := obj.(*model.PodDebugger)
	debugger.Status = model.PodDebuggerStatus{Conditions: resource.PendingConditions("PodDebugger")}
	debugger.Generation = 1
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

// NewStatusStrategy returns the strategy of the status subresource.
func NewStatusStrategy(strategy Strategy) resource.StatusStrategy[*model.PodDebugger] {
	keepSpec := func(debugger, old *model.PodDebugger) { debugger.Spec = old.Spec }
	return resource.NewStatusStrategy(strategy, keepSpec, validation.ValidatePodDebuggerStatusUpdate)
}
