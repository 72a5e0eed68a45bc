// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

// Package storage does with the claims of boxes what is not done by applying them: they grow, change their owner, and stay.
package storage

import (
	"context"
	"slices"

	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/apply"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/children"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/modelbox/kinds"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/reconciler"
)

// Reconciler does the changes to the claims of boxes that an apply cannot do.
type Reconciler struct {
	*reconciler.For[*modelv1.ModelBox, modelv1.ModelBoxStatus]

	kubeClient kubernetes.Interface
	Children   *children.Engine[*modelv1.ModelBox]
	// Claims are indexed by their box.
	Claims         cache.Indexer
	refusedGrowths *refusedGrowths
}

// New returns a Reconciler whose field Children is yet to be set.
func New(boxes *reconciler.For[*modelv1.ModelBox, modelv1.ModelBoxStatus], kubeClient kubernetes.Interface, claims cache.Indexer) *Reconciler {
	s := &Reconciler{For: boxes, kubeClient: kubeClient, Claims: claims, refusedGrowths: newRefusedGrowths()}
	boxes.Remember(s.refusedGrowths)
	return s
}

// Result is what became of the claims of a box before its children are reconciled.
type Result struct {
	Box *modelv1.ModelBox
	// IsWritten says that owners of claims were written, which the caches have to show before the children are reconciled.
	IsWritten bool
	// Unreleased are the names of storage whose claims the box or its StatefulSet may still own, although it is retained.
	Unreleased []string
	// isDisowned says that the owner of some claims could not be changed. If the StatefulSet is deleted now, nothing may record that
	// these claims are to be deleted.
	isDisowned bool
	// growing are the claims that the children are to grow with, by name. held are the ones among them that have to wait.
	growing map[string]growth
	held    []string
	// Failures are the errors that keep claims from matching the spec of the box.
	Failures []error
}

// ReconcileStorage does the changes to the claims of the box that an apply cannot do.
func (s *Reconciler) ReconcileStorage(ctx context.Context, box *modelv1.ModelBox) (*Result, error) {
	result := &Result{Box: box}
	for _, step := range []func(context.Context, *modelv1.ModelBox, *Result) error{s.releaseStorage, s.ownDiscardedClaims, s.GrowPodClaims, s.holdGrowingClaims} {
		if err := step(ctx, box, result); err != nil {
			return nil, err
		}
	}
	return result, nil
}

// fail takes note of a failure, nil being none. The error is for one that the next look at the caches settles.
func (r *Result) fail(err error) error {
	switch {
	case err == nil:
		return nil
	case children.Classify(err).IsStale:
		return err
	}
	r.Failures = append(r.Failures, err)
	return nil
}

// Hold is children.Hold: no claim goes that may be needed, nor a StatefulSet that says which claims are to go, and no claim asks for
// a size again at once that it was refused.
func (r *Result) Hold(step *apply.Step) bool {
	switch {
	case step.Operation == apply.Prune && step.Kind.GroupVersionKind == kinds.ClaimGVK:
		return len(r.Failures) > 0 || isClaimOfSpec(r.Box, step.Name()) ||
			slices.ContainsFunc(r.Unreleased, func(storage string) bool { return isClaimOf(r.Box, storage, step.Name()) })
	case step.Operation == apply.Update && step.Kind.GroupVersionKind == kinds.ClaimGVK:
		return slices.Contains(r.held, step.Name())
	case step.Operation == apply.Replace && step.Kind.GroupVersionKind.Kind == "StatefulSet":
		return r.isDisowned
	default:
		return false
	}
}
