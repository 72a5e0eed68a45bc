// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package modelbox

import (
	"context"
	"slices"

	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/apply"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/children"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/reconciler"
)

// storageReconciler does with the claims of boxes what is not done by applying them.
type storageReconciler struct {
	*reconciler.For[*modelv1.ModelBox, modelv1.ModelBoxStatus]

	kubeClient kubernetes.Interface
	children   *children.Engine[*modelv1.ModelBox]
	// claims are indexed by their box.
	claims         cache.Indexer
	refusedGrowths *refusedGrowths
}

// newStorageReconciler returns a storageReconciler whose field children is yet to be set.
func newStorageReconciler(boxes *reconciler.For[*modelv1.ModelBox, modelv1.ModelBoxStatus], kubeClient kubernetes.Interface, claims cache.Indexer) *storageReconciler {
	s := &storageReconciler{For: boxes, kubeClient: kubeClient, claims: claims, refusedGrowths: newRefusedGrowths()}
	boxes.Remember(s.refusedGrowths)
	return s
}

// storageResult is what became of the claims of a box before its children are reconciled.
type storageResult struct {
	box *modelv1.ModelBox
	// isWritten says that owners of claims were written, which the caches have to show before the children are reconciled.
	isWritten bool
	// unreleased are the names of storage whose claims the box or its StatefulSet may still own, although it is retained.
	unreleased []string
	// isDisowned says that claims that are to go may be lost sight of if the StatefulSet goes now.
	isDisowned bool
	// growing are the claims that the children are to grow with, by name. held are the ones among them that have to wait.
	growing map[string]growth
	held    []string
	// failures are what keeps claims from being as the box says.
	failures []error
}

// reconcileStorage does with the claims of the box what is not done by applying them.
func (s *storageReconciler) reconcileStorage(ctx context.Context, box *modelv1.ModelBox) (*storageResult, error) {
	result := &storageResult{box: box}
	for _, step := range []func(context.Context, *modelv1.ModelBox, *storageResult) error{s.releaseStorage, s.ownDiscardedClaims, s.growPodClaims, s.holdGrowingClaims} {
		if err := step(ctx, box, result); err != nil {
			return nil, err
		}
	}
	return result, nil
}

// fail takes note of a failure, nil being none. The error is for one that the next look at the caches settles.
func (r *storageResult) fail(err error) error {
	switch {
	case err == nil:
		return nil
	case children.Classify(err).IsStale:
		return err
	}
	r.failures = append(r.failures, err)
	return nil
}

// hold is children.Hold: no claim goes that may be needed, nor a StatefulSet that says which claims are to go, and no claim asks for a
// size again at once that it was refused.
func (r *storageResult) hold(step *apply.Step) bool {
	switch {
	case step.Operation == apply.Prune && step.Kind.GroupVersionKind == claimGVK:
		return len(r.failures) > 0 || isClaimOfSpec(r.box, step.Name()) ||
			slices.ContainsFunc(r.unreleased, func(storage string) bool { return isClaimOf(r.box, storage, step.Name()) })
	case step.Operation == apply.Update && step.Kind.GroupVersionKind == claimGVK:
		return slices.Contains(r.held, step.Name())
	case step.Operation == apply.Replace && step.Kind.GroupVersionKind.Kind == "StatefulSet":
		return r.isDisowned
	default:
		return false
	}
}
