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
	"k8s.io/apiserver/pkg/storage/names"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model"
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

// PrepareForCreate starts the generation count.
func (Strategy) PrepareForCreate(_ context.Context, obj runtime.Object) {
	obj.(*model.Network).Generation = 1
}

// PrepareForUpdate counts a change of the spec as a new generation.
func (Strategy) PrepareForUpdate(_ context.Context, obj, old runtime.Object) {
	network, oldNetwork := obj.(*model.Network), old.(*model.Network)
	if !apiequality.Semantic.DeepEqual(network.Spec, oldNetwork.Spec) {
		network.Generation = oldNetwork.Generation + 1
	}
}

// Validate checks a new network.
func (Strategy) Validate(ctx context.Context, obj runtime.Object) field.ErrorList {
	return validation.Told(validation.ValidateNetwork(ctx, obj.(*model.Network)))
}

// ValidateUpdate checks a changed network.
func (Strategy) ValidateUpdate(ctx context.Context, obj, old runtime.Object) field.ErrorList {
	return validation.Told(validation.ValidateNetworkUpdate(ctx, obj.(*model.Network), old.(*model.Network)))
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
