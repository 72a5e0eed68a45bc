// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package storage

import (
	"context"
	"fmt"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/apply"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/children"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/modelbox/kinds"
	modelboxrender "github.com/sharelinuxs/modelbox-apiserver/pkg/render/modelbox"
)

// ownDiscardedClaims lets the box own the claims of storage that was taken out of it and is to go with its StatefulSet. That one
// is replaced, and with it goes what says which claims these are. As a child that the box does not ask for, a claim is pruned when
// nothing needs it. It is the StatefulSet's again where the box has its storage again.
func (s *Reconciler) ownDiscardedClaims(ctx context.Context, box *modelv1.ModelBox, result *Result) error {
	if box.Spec.Paused {
		return nil
	}
	set, err := s.ownStatefulSet(box)
	if err != nil || set == nil || set.DeletionTimestamp != nil || !discardsClaims(set) {
		return err
	}
	claims, err := s.claimsOf(apply.KeyOf(box))
	if err != nil {
		return err
	}
	for _, claim := range claims {
		owner := s.nextOwner(box, set, claim)
		if owner == nil {
			continue
		}
		err := s.changeClaimOwner(ctx, box, set, claim, owner)
		result.IsWritten = result.IsWritten || err == nil
		result.isDisowned = result.isDisowned || err != nil
		if err := result.fail(err); err != nil {
			return err
		}
	}
	return nil
}

// changeClaimOwner lets the owner own the claim, the StatefulSet only if it is there and stays: the garbage collector deletes what
// one that is gone owns.
func (s *Reconciler) changeClaimOwner(ctx context.Context, box *modelv1.ModelBox, set *appsv1.StatefulSet, claim *corev1.PersistentVolumeClaim, owner *metav1.OwnerReference) error {
	if owner.UID == set.UID {
		live, err := kinds.LiveStatefulSet(ctx, s.kubeClient, set)
		if err != nil {
			return err
		}
		if live == nil {
			return fmt.Errorf("StatefulSet %s: %w", set.Name, children.ErrChildGone)
		}
	}
	return s.setClaimOwner(ctx, box, set, claim, owner)
}

// nextOwner returns what is to own a claim of a pod of the StatefulSet that discards its claims, nil where nothing changes.
func (s *Reconciler) nextOwner(box *modelv1.ModelBox, set *appsv1.StatefulSet, claim *corev1.PersistentVolumeClaim) *metav1.OwnerReference {
	isOfSet := slices.ContainsFunc(set.Spec.VolumeClaimTemplates, func(template corev1.PersistentVolumeClaim) bool {
		return isClaimOf(box, template.Name, claim.Name) && !slices.Contains(box.Status.UnreleasedStorage, template.Name)
	})
	isAskedFor := isClaimOfSpec(box, claim.Name)
	switch {
	case !isOfSet || claim.DeletionTimestamp != nil:
		return nil
	case !isAskedFor && isOwnedBySet(claim, set) && !s.Children.IsOwnedBy(claim, box):
		return metav1.NewControllerRef(box, modelboxrender.Kind)
	case isAskedFor && s.Children.IsOwnedBy(claim, box):
		return metav1.NewControllerRef(set, appsv1.SchemeGroupVersion.WithKind("StatefulSet"))
	default:
		return nil
	}
}
