// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

// Package network defines how Networks behave as a REST resource: what happens to them between the request and the
// storage, and how they are printed.
package network

import (
	"context"

	apiequality "k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/apiserver/pkg/authorization/authorizer"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/validation"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/registry/model/resource"
)

// Strategy is the logic that applies when users create, update and delete Networks.
type Strategy struct {
	resource.Strategy
	list       List
	authorizer authorizer.UnconditionalAuthorizer
}

// NewStrategy returns a strategy. typer has to know the internal types; list is asked for the other networks of a
// namespace, and authorizer for whether the user may know of them.
func NewStrategy(typer runtime.ObjectTyper, list List, authorizer authorizer.UnconditionalAuthorizer) Strategy {
	return Strategy{resource.NewStrategy(typer), list, authorizer}
}

// PrepareForCreate replaces the status by the initial status, and sets the generation to 1.
func (Strategy) PrepareForCreate(_ context.Context, obj runtime.Object) {
	network := obj.(*model.Network)
	network.Status = model.NetworkStatus{Conditions: resource.PendingConditions("network")}
	network.Generation = 1
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

// NewStatusStrategy returns the strategy of the status subresource.
func NewStatusStrategy(strategy Strategy) resource.StatusStrategy[*model.Network] {
	keepSpec := func(network, old *model.Network) { network.Spec = old.Spec }
	return resource.NewStatusStrategy(strategy, keepSpec, validation.ValidateNetworkStatusUpdate)
}
