// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

// Package network defines how Networks behave as a REST resource: what happens to them between the request and the
// storage, and how they are printed.
package network

import (
	"context"

	apiequality "k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/apiserver/pkg/authorization/authorizer"
	"k8s.io/apiserver/pkg/storage/names"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model"
	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/validation"
)

// Strategy is the logic that applies when users create, update and delete Networks.
type Strategy struct {
	runtime.ObjectTyper
	names.NameGenerator
	list       List
	authorizer authorizer.UnconditionalAuthorizer
}

// NewStrategy returns a strategy. typer has to know the internal types; list is asked for the other networks of a
// namespace, and authorizer for whether the user may know of them.
func NewStrategy(typer runtime.ObjectTyper, list List, authorizer authorizer.UnconditionalAuthorizer) Strategy {
	return Strategy{typer, names.SimpleNameGenerator, list, authorizer}
}

// NamespaceScoped returns true: every network lives in a namespace.
func (Strategy) NamespaceScoped() bool { return true }

// GetResetFields returns the fields that users cannot set through the main resource.
func (Strategy) GetResetFields() map[fieldpath.APIVersion]*fieldpath.Set {
	return map[fieldpath.APIVersion]*fieldpath.Set{
		fieldpath.APIVersion(modelv1.SchemeGroupVersion.String()): fieldpath.NewSet(
			fieldpath.MakePathOrDie("status"),
		),
	}
}

// PrepareForCreate replaces the status by that of a network which the controller has not seen, and starts the generation
// count.
func (Strategy) PrepareForCreate(_ context.Context, obj runtime.Object) {
	network := obj.(*model.Network)
	network.Status = pendingStatus()
	network.Generation = 1
}

// pendingStatus says that nothing is known yet.
func pendingStatus() model.NetworkStatus {
	return model.NetworkStatus{Conditions: []metav1.Condition{{
		Type:               modelv1.ConditionReady,
		Status:             metav1.ConditionUnknown,
		Reason:             modelv1.ReasonPending,
		Message:            "the controller has not seen this network yet",
		LastTransitionTime: metav1.Now(),
	}}}
}

// PrepareForUpdate keeps the status and counts a change of the spec as a new generation.
func (Strategy) PrepareForUpdate(_ context.Context, obj, old runtime.Object) {
	network, oldNetwork := obj.(*model.Network), old.(*model.Network)
	network.Status = oldNetwork.Status
	if !apiequality.Semantic.DeepEqual(network.Spec, oldNetwork.Spec) {
		network.Generation = oldNetwork.Generation + 1
	}
}

// Validate checks a new network.
func (Strategy) Validate(ctx context.Context, obj runtime.Object) field.ErrorList {
	return validation.TruncateErrors(validation.ValidateNetwork(ctx, obj.(*model.Network)))
}

// ValidateUpdate checks a changed network.
func (Strategy) ValidateUpdate(ctx context.Context, obj, old runtime.Object) field.ErrorList {
	return validation.TruncateErrors(validation.ValidateNetworkUpdate(ctx, obj.(*model.Network), old.(*model.Network)))
}

// WarningsOnCreate names the networks that a new one overlaps.
func (s Strategy) WarningsOnCreate(ctx context.Context, obj runtime.Object) []string {
	return s.overlapWarnings(ctx, obj.(*model.Network))
}

// WarningsOnUpdate names the networks that a network overlaps whose spec was changed.
func (s Strategy) WarningsOnUpdate(ctx context.Context, obj, old runtime.Object) []string {
	network, oldNetwork := obj.(*model.Network), old.(*model.Network)
	if apiequality.Semantic.DeepEqual(network.Spec, oldNetwork.Spec) {
		return nil
	}
	return s.overlapWarnings(ctx, network)
}

// Canonicalize leaves the network as it is.
func (Strategy) Canonicalize(runtime.Object) {}

// AllowCreateOnUpdate returns false: a PUT does not create a network.
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
	network, oldNetwork := obj.(*model.Network), old.(*model.Network)
	network.Spec = oldNetwork.Spec
	metav1.ResetObjectMetaForStatus(&network.ObjectMeta, &oldNetwork.ObjectMeta)
}

// WarningsOnUpdate returns no warnings: who writes a status cannot do anything about the spec.
func (StatusStrategy) WarningsOnUpdate(context.Context, runtime.Object, runtime.Object) []string {
	return nil
}

// ValidateUpdate checks a changed status.
func (StatusStrategy) ValidateUpdate(ctx context.Context, obj, old runtime.Object) field.ErrorList {
	return validation.TruncateErrors(validation.ValidateNetworkStatusUpdate(ctx, obj.(*model.Network), old.(*model.Network)))
}
