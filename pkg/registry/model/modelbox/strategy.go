// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

// Package modelbox defines how ModelBoxes behave as a REST resource: what happens to them between the request
// and the storage, how they are selected, and how they are printed.
package modelbox

import (
	"context"
	"slices"

	apiequality "k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	utilnet "k8s.io/apimachinery/pkg/util/net"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/apiserver/pkg/authorization/authorizer"
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
	listAll    ListAll
	getNetwork GetNetwork
	authorizer authorizer.UnconditionalAuthorizer
	validator  SpecValidator
}

// NewStrategy returns the strategy of the main resource. typer has to know the internal types; listAll is asked for
// what other boxes use already, getNetwork for the networks of a box, and authorizer for which of them the user may know;
// nodePortRange is what the cluster gives out, empty where that is not known.
func NewStrategy(typer runtime.ObjectTyper, listAll ListAll, getNetwork GetNetwork, authorizer authorizer.UnconditionalAuthorizer, nodePortRange utilnet.PortRange) Strategy {
	return Strategy{typer, names.SimpleNameGenerator, listAll, getNetwork, authorizer, SpecValidator{nodePortRange}}
}

// Validator returns what validates the spec of a box, wherever it is.
func (s Strategy) Validator() SpecValidator { return s.validator }

// NamespaceScoped returns true: every box lives in a namespace.
func (Strategy) NamespaceScoped() bool { return true }

// GetResetFields returns the fields that users cannot set through the main resource.
func (Strategy) GetResetFields() map[fieldpath.APIVersion]*fieldpath.Set {
	return map[fieldpath.APIVersion]*fieldpath.Set{
		fieldpath.APIVersion(modelv1.SchemeGroupVersion.String()): fieldpath.NewSet(
			fieldpath.MakePathOrDie("status"),
			fieldpath.MakePathOrDie("metadata", "annotations", modelv1.ChangedByAnnotation),
		),
	}
}

// PrepareForCreate replaces the status by that of a box which the controller has not seen, starts the generation
// count, names the main container of a box whose own name was generated after defaulting, and notes whose box it is.
func (Strategy) PrepareForCreate(ctx context.Context, obj runtime.Object) {
	box := obj.(*model.ModelBox)
	box.Status = pendingStatus()
	box.Generation = 1
	if box.Spec.Name == "" {
		box.Spec.Name = box.Name
	}
	noteChange(ctx, box, nil)
}

// pendingStatus says that nothing is known yet. Without it, what waits for a box could take one without a status for
// one that has nothing to report.
func pendingStatus() model.ModelBoxStatus {
	return model.ModelBoxStatus{Conditions: []metav1.Condition{{
		Type:               modelv1.ConditionReady,
		Status:             metav1.ConditionUnknown,
		Reason:             modelv1.ReasonPending,
		Message:            "the controller has not seen this box yet",
		LastTransitionTime: metav1.Now(),
	}}}
}

// PrepareForUpdate is prepareForUpdate, and keeps the number of pods that an autoscaler of the box decides.
func (Strategy) PrepareForUpdate(ctx context.Context, obj, old runtime.Object) {
	box, oldBox := obj.(*model.ModelBox), old.(*model.ModelBox)
	keepAutoscaledReplicas(ctx, box, oldBox)
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

// ValidateUpdate checks a changed box. What was wrong with it already does not count.
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

// convertToV1 returns the box in the served version. The two share memory: neither may be changed.
func convertToV1(box *model.ModelBox) (*modelv1.ModelBox, error) {
	served := &modelv1.ModelBox{}
	if err := modelv1.Convert_model_ModelBox_To_v1_ModelBox(box, served, nil); err != nil {
		return nil, err
	}
	return served, nil
}

// WarningsOnCreate returns what the user of a new box may not expect.
func (s Strategy) WarningsOnCreate(ctx context.Context, obj runtime.Object) []string {
	return s.warningsOnCreate(ctx, obj.(*model.ModelBox))
}

// WarningsOnUpdate returns what the update will do to running pods, and what its user may not expect.
func (s Strategy) WarningsOnUpdate(ctx context.Context, obj, old runtime.Object) []string {
	return s.warningsOnUpdate(ctx, obj.(*model.ModelBox), old.(*model.ModelBox))
}

// Canonicalize leaves the box as it is.
func (Strategy) Canonicalize(runtime.Object) {}

// AllowCreateOnUpdate returns false: a PUT does not create a box.
func (Strategy) AllowCreateOnUpdate(context.Context) bool { return false }

// AllowUnconditionalUpdate returns true: a PUT without a resourceVersion replaces what is there, as it does for
// a Deployment.
func (Strategy) AllowUnconditionalUpdate(context.Context) bool { return true }

// ScaleStrategy is the logic that applies when the replicas of a ModelBox are updated through the scale subresource.
type ScaleStrategy struct {
	Strategy
}

// NewScaleStrategy returns the strategy of the scale subresource.
func NewScaleStrategy(strategy Strategy) ScaleStrategy {
	return ScaleStrategy{strategy}
}

// PrepareForUpdate is that of the main resource, except that the scale sets the replicas of a box with an autoscaler: the
// autoscaler itself uses this subresource.
func (ScaleStrategy) PrepareForUpdate(ctx context.Context, obj, old runtime.Object) {
	prepareForUpdate(ctx, obj.(*model.ModelBox), old.(*model.ModelBox))
}

// WarningsOnUpdate returns warnings about the replicas only: a user of the scale does not see the rest of the box.
func (ScaleStrategy) WarningsOnUpdate(_ context.Context, obj, old runtime.Object) []string {
	box, oldBox := obj.(*model.ModelBox), old.(*model.ModelBox)
	return append(stackWarnings(box, oldBox), scaleWarnings(box, oldBox)...)
}

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

// WarningsOnUpdate returns no warnings: who writes a status cannot do anything about the spec.
func (StatusStrategy) WarningsOnUpdate(context.Context, runtime.Object, runtime.Object) []string {
	return nil
}

// ValidateUpdate checks a changed status.
func (StatusStrategy) ValidateUpdate(ctx context.Context, obj, old runtime.Object) field.ErrorList {
	return validation.TruncateErrors(validation.ValidateModelBoxStatusUpdate(ctx, obj.(*model.ModelBox), old.(*model.ModelBox)))
}
