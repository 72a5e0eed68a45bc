// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

// Package modelbox defines how ModelBoxes behave as a REST resource: what happens to them between the request
// and the storage, how they are selected, and how they are printed.
package modelbox

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

// Strategy is the logic that applies when users create, update and delete ModelBoxes.
type Strategy struct {
	runtime.ObjectTyper
	names.NameGenerator
}

// NewStrategy returns the strategy of the main resource. typer has to know the internal types.
func NewStrategy(typer runtime.ObjectTyper) Strategy {
	return Strategy{typer, names.SimpleNameGenerator}
}

// NamespaceScoped returns true: every box lives in a namespace.
func (Strategy) NamespaceScoped() bool { return true }

// GetResetFields returns the fields that users cannot set through the main resource.
func (Strategy) GetResetFields() map[fieldpath.APIVersion]*fieldpath.Set {
	return map[fieldpath.APIVersion]*fieldpath.Set{
		fieldpath.APIVersion(modelv1.SchemeGroupVersion.String()): fieldpath.NewSet(
			fieldpath.MakePathOrDie("status"),
		),
	}
}

// PrepareForCreate drops the status, starts the generation count, and names the main container of a box whose
// own name was generated after defaulting.
func (Strategy) PrepareForCreate(_ context.Context, obj runtime.Object) {
	box := obj.(*model.ModelBox)
	box.Status = model.ModelBoxStatus{}
	box.Generation = 1
	if box.Spec.Name == "" {
		box.Spec.Name = box.Name
	}
}

// PrepareForUpdate keeps the status and counts a change of the spec as a new generation.
func (Strategy) PrepareForUpdate(_ context.Context, obj, old runtime.Object) {
	box, oldBox := obj.(*model.ModelBox), old.(*model.ModelBox)
	box.Status = oldBox.Status
	if !apiequality.Semantic.DeepEqual(box.Spec, oldBox.Spec) {
		box.Generation = oldBox.Generation + 1
	}
}

// Validate checks a new box.
func (Strategy) Validate(_ context.Context, obj runtime.Object) field.ErrorList {
	return validation.ValidateModelBox(obj.(*model.ModelBox))
}

// ValidateUpdate checks a changed box.
func (Strategy) ValidateUpdate(_ context.Context, obj, old runtime.Object) field.ErrorList {
	return validation.ValidateModelBoxUpdate(obj.(*model.ModelBox), old.(*model.ModelBox))
}

// WarningsOnCreate returns no warnings.
func (Strategy) WarningsOnCreate(context.Context, runtime.Object) []string { return nil }

// WarningsOnUpdate returns no warnings.
func (Strategy) WarningsOnUpdate(context.Context, runtime.Object, runtime.Object) []string {
	return nil
}

// Canonicalize leaves the box as it is.
func (Strategy) Canonicalize(runtime.Object) {}

// AllowCreateOnUpdate returns false: a PUT does not create a box.
func (Strategy) AllowCreateOnUpdate(context.Context) bool { return false }

// AllowUnconditionalUpdate returns true: a PUT without a resourceVersion replaces what is there, as it does for
// a Deployment.
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
	box, oldBox := obj.(*model.ModelBox), old.(*model.ModelBox)
	box.Spec = oldBox.Spec
	metav1.ResetObjectMetaForStatus(&box.ObjectMeta, &oldBox.ObjectMeta)
}

// ValidateUpdate checks a changed status.
func (StatusStrategy) ValidateUpdate(_ context.Context, obj, old runtime.Object) field.ErrorList {
	return validation.ValidateModelBoxStatusUpdate(obj.(*model.ModelBox), old.(*model.ModelBox))
}
