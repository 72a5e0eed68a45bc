// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package storage

import (
	"context"
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/klog/v2"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/apply"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/children"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/timeout"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/render"
)

// releaseStorage releases the claims of storage that the status of the box has as unreleased: it was not retained once, and is now
// or was when it was taken out. No pod notices the release, so it does not wait for the end of a pause.
func (s *Reconciler) releaseStorage(ctx context.Context, box *modelv1.ModelBox, result *Result) error {
	if len(box.Status.UnreleasedStorage) == 0 {
		return nil
	}
	set, err := s.ownStatefulSet(box)
	if err != nil {
		return err
	}
	claims, err := s.claimsOf(apply.KeyOf(box))
	if err != nil {
		return err
	}
	for _, storage := range box.Status.UnreleasedStorage {
		isReleased, err := s.releaseClaims(ctx, box, set, storage, claims, result)
		if err != nil {
			err = fmt.Errorf("retaining storage %s: %w", storage, err)
		}
		if err := result.fail(err); err != nil {
			return err
		}
		if !isReleased {
			result.Unreleased = append(result.Unreleased, storage)
		}
	}
	return nil
}

// releaseClaims releases the claims of the storage, and returns whether there was none left to release.
func (s *Reconciler) releaseClaims(ctx context.Context, box *modelv1.ModelBox, set *appsv1.StatefulSet, storage string, claims []*corev1.PersistentVolumeClaim, result *Result) (bool, error) {
	isReleased := true
	if set != nil && set.DeletionTimestamp == nil && hasClaimTemplate(set, storage) {
		// Its controller would own the claims again before it has seen that it is not to.
		isReleased = !discardsClaims(set) && set.Status.ObservedGeneration >= set.Generation
		if discardsClaims(set) && !result.IsWritten {
			if err := s.retainClaims(ctx, box, set); err != nil {
				return false, err
			}
			result.IsWritten = true
		}
	}
	for _, claim := range claims {
		if claim.DeletionTimestamp != nil || !isClaimOf(box, storage, claim.Name) || !s.Children.IsOwnedBy(claim, box) && !isOwnedBySet(claim, set) {
			continue
		}
		isReleased = false
		if err := s.setClaimOwner(ctx, box, set, claim, nil); err != nil {
			return false, err
		}
		result.IsWritten = true
	}
	return isReleased, nil
}

// retainClaims tells the StatefulSet of the box to leave its claims when it goes.
func (s *Reconciler) retainClaims(ctx context.Context, box *modelv1.ModelBox, set *appsv1.StatefulSet) error {
	patch, err := encodePatch(set, map[string]any{"spec": map[string]any{"persistentVolumeClaimRetentionPolicy": map[string]any{
		"whenDeleted": appsv1.RetainPersistentVolumeClaimRetentionPolicyType,
	}}})
	if err != nil {
		return fmt.Errorf("encoding the retention policy of StatefulSet %s: %w", set.Name, err)
	}
	patched, err := timeout.Request(ctx, func(ctx context.Context) (*appsv1.StatefulSet, error) {
		return s.kubeClient.AppsV1().StatefulSets(set.Namespace).
			Patch(ctx, set.Name, types.MergePatchType, patch, metav1.PatchOptions{FieldManager: render.FieldManager})
	})
	if apierrors.IsNotFound(err) {
		return fmt.Errorf("StatefulSet %s: %w", set.Name, children.ErrChildGone)
	}
	if err != nil {
		return fmt.Errorf("changing the retention policy of StatefulSet %s: %w", set.Name, err)
	}
	s.Consistency.WroteAt(apply.KeyOf(box), box.UID, appsv1.Resource("statefulsets"), patched.ResourceVersion)
	s.Metrics.ChildWritten("StatefulSet", "update")
	klog.FromContext(ctx).V(2).Info("Changed the retention policy of StatefulSet", "statefulSet", klog.KObj(set))
	return nil
}
