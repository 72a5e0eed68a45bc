// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

// Package modelbox defines how ModelBoxes behave as a REST resource: what happens to them between the request
// and the storage, how they are selected, and how they are printed.
package modelbox

import (
	"context"
	"slices"

	apiequality "k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/apiserver/pkg/authorization/authorizer"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model"
	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/validation"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/registry/model/resource"
)

// Strategy is the logic that applies when users create, update and delete ModelBoxes.
type Strategy struct {
	resource.Strategy
	listAll    ListAll
	getNetwork GetNetwork
	authorizer authorizer.UnconditionalAuthorizer
	validator  SpecValidator
}

// NewStrategy returns the strategy of the main resource. typer has to know the internal types; listAll is asked for
// what other boxes use already, getNetwork for the networks of a box, and authorizer for which of them the user may know;
// validator validates the specs of boxes.
func NewStrategy(typer runtime.ObjectTyper, listAll ListAll, getNetwork GetNetwork, authorizer authorizer.UnconditionalAuthorizer, validator SpecValidator) Strategy {
	return Strategy{resource.NewStrategy(typer), listAll, getNetwork, authorizer, validator}
}

// Validator returns what validates the spec of a box, wherever it is.
func (s Strategy) Validator() SpecValidator { return s.validator }

// GetResetFields returns the fields that users cannot set through the main resource.
func (Strategy) GetResetFields() map[fieldpath.APIVersion]*fieldpath.Set {
	return resource.ResetFields(
		fieldpath.MakePathOrDie("status"),
		fieldpath.MakePathOrDie("metadata", "annotations", modelv1.ChangedByAnnotation),
	)
}

// PrepareForCreate replaces the status by the initial status, sets the generation to 1, names the main container of a box whose own
// name was generated after defaulting, and records the user who creates the box.
func (Strategy) PrepareForCreate(ctx context.Context, obj runtime.Object) {
	box := obj.(*model.ModelBox)
	box.Status = model.ModelBoxStatus{Conditions: resource.PendingConditions("box")}
	box.Generation = 1
	if box.Spec.Name == "" {
		box.Spec.Name = box.Name
	}
	noteChange(ctx, box, nil)
}

// PrepareForUpdate is prepareForUpdate, and keeps the number of pods that an autoscaler of the box decides.
func (Strategy) PrepareForUpdate(ctx context.Context, obj, old runtime.Object) {
	box, oldBox := obj.(*model.ModelBox), old.(*model.ModelBox)
	keepAutoscaledReplicas(ctx, box, oldBox)
	keepOmittedReferences(box, oldBox)
	prepareForUpdate(ctx, box, oldBox)
}

// prepareForUpdate keeps the status but for what storage is to be released, counts a change of the spec as a new generation, and
// notes who has changed the pods.
func prepareForUpdate(ctx context.Context, box, oldBox *model.ModelBox) {
	box.Status = oldBox.Status
	box.Status.UnreleasedStorage = unreleasedStorage(box, oldBox)
	if !apiequality.Semantic.DeepEqual(box.Spec, oldBox.Spec) {
		box.Generation = oldBox.Generation + 1
	}
	noteChange(ctx, box, oldBox)
}

// Validate checks a new box, first of all whether the other rules can afford to look at it.
func (s Strategy) Validate(ctx context.Context, obj runtime.Object) field.ErrorList {
	box := obj.(*model.ModelBox)
	errs := validation.ValidateLimits(box)
	if len(errs) == 0 {
		errs = append(validation.ValidateModelBoxMeta(box), s.validator.Validate(ctx, box, validation.ObjectPaths)...)
	}
	return validation.TruncateErrors(errs)
}

// ValidateUpdate validates a changed box. It ignores unchanged fields that were invalid before.
func (s Strategy) ValidateUpdate(ctx context.Context, obj, old runtime.Object) field.ErrorList {
	box, oldBox := obj.(*model.ModelBox), old.(*model.ModelBox)
	errs := validation.ValidateLimitsUpdate(box, oldBox)
	if len(errs) == 0 {
		errs = slices.Concat(
			validation.ValidateModelBoxMetaUpdate(box, oldBox),
			s.validator.ValidateUpdate(ctx, box, oldBox, validation.ObjectPaths.Spec),
			validateClientSideApply(box, oldBox),
		)
	}
	return validation.TruncateErrors(errs)
}

// WarningsOnCreate returns what the user of a new box may not expect.
func (s Strategy) WarningsOnCreate(ctx context.Context, obj runtime.Object) []string {
	return s.warningsOnCreate(ctx, obj.(*model.ModelBox))
}

// WarningsOnUpdate returns what the update will do to running pods, and what its user may not expect.
func (s Strategy) WarningsOnUpdate(ctx context.Context, obj, old runtime.Object) []string {
	return s.warningsOnUpdate(ctx, obj.(*model.ModelBox), old.(*model.ModelBox))
}

// ScaleStrategy is the logic that applies when the replicas of a ModelBox are updated through the scale subresource.
type ScaleStrategy struct {
	Strategy
}

// NewScaleStrategy returns the strategy of the scale subresource.
func NewScaleStrategy(strategy Strategy) ScaleStrategy {
	return ScaleStrategy{strategy}
}

// PrepareForUpdate does what the strategy of the main resource does, except that it sets the replicas of a box with an autoscaler,
// because the autoscaler itself uses this subresource.
func (ScaleStrategy) PrepareForUpdate(ctx context.Context, obj, old runtime.Object) {
	prepareForUpdate(ctx, obj.(*model.ModelBox), old.(*model.ModelBox))
}

// WarningsOnUpdate returns warnings about the replicas only: a user of the scale does not see the rest of the box.
func (ScaleStrategy) WarningsOnUpdate(_ context.Context, obj, old runtime.Object) []string {
	box, oldBox := obj.(*model.ModelBox), old.(*model.ModelBox)
	return append(stackWarnings(box, oldBox), scaleWarnings(box, oldBox)...)
}

// NewStatusStrategy returns the strategy of the status subresource.
func NewStatusStrategy(strategy Strategy) resource.StatusStrategy[*model.ModelBox] {
	keepSpec := func(box, old *model.ModelBox) { box.Spec = old.Spec }
	return resource.NewStatusStrategy(strategy, keepSpec, validation.ValidateModelBoxStatusUpdate)
}
