// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package storage

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/klog/v2"
	"k8s.io/utils/ptr"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/helper"
	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/apply"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/modelbox/kinds"
)

// GrowPodClaims lets the claims of the pods of a StatefulSet grow to what the box asks for, which their StatefulSet does
// not do.
func (s *Reconciler) GrowPodClaims(ctx context.Context, box *modelv1.ModelBox, result *Result) error {
	if box.Spec.Workload != modelv1.WorkloadStatefulSet || box.Spec.Paused {
		return nil
	}
	claims, err := s.claimsOf(apply.KeyOf(box))
	if err != nil {
		return err
	}
	for _, claim := range claims {
		storage := s.storageOfPodClaim(box, claim)
		if storage == nil || claim.DeletionTimestamp != nil || claim.Spec.Resources.Requests.Storage().Cmp(storage.RequestedSize) >= 0 {
			continue
		}
		err := s.refusedGrowths.find(claim.UID, storage.RequestedSize, s.Clock.Now())
		if err == nil {
			err = s.growClaim(ctx, box, claim, storage.RequestedSize)
			err = s.refusedGrowths.answer(apply.KeyOf(box), claim.UID, storage.RequestedSize, err, s.Clock.Now())
		}
		if err := result.fail(err); err != nil {
			return err
		}
	}
	return nil
}

// claimsOf returns the claims that were made for the box, sorted by name.
func (s *Reconciler) claimsOf(box types.NamespacedName) ([]*corev1.PersistentVolumeClaim, error) {
	objects, err := s.Claims.ByIndex(kinds.ByBox, box.String())
	if err != nil {
		return nil, fmt.Errorf("looking up the claims of the box: %w", err)
	}
	claims := make([]*corev1.PersistentVolumeClaim, 0, len(objects))
	for _, object := range objects {
		claims = append(claims, object.(*corev1.PersistentVolumeClaim))
	}
	slices.SortFunc(claims, func(a, b *corev1.PersistentVolumeClaim) int { return cmp.Compare(a.Name, b.Name) })
	return claims, nil
}

// storageOfPodClaim returns the storage of the box that the claim is one pod's of, nil where it is of none.
func (s *Reconciler) storageOfPodClaim(box *modelv1.ModelBox, claim *corev1.PersistentVolumeClaim) *modelv1.ModelBoxStorage {
	if !s.isPodClaim(box, claim) {
		return nil
	}
	for i := range box.Spec.Storage {
		if storage := &box.Spec.Storage[i]; helper.IsPodClaimName(claim.Name, box.Name, storage.Name) {
			return storage
		}
	}
	return nil
}

// isPodClaim returns whether a claim that was made for the box may belong to a pod of its StatefulSet, because no other controller
// controls it.
func (s *Reconciler) isPodClaim(box *modelv1.ModelBox, claim *corev1.PersistentVolumeClaim) bool {
	controller := metav1.GetControllerOfNoCopy(claim)
	return controller == nil || s.Children.IsOwnedBy(claim, box) || controller.Kind == "StatefulSet" && controller.Name == box.Name &&
		controller.APIVersion == appsv1.SchemeGroupVersion.String()
}

// growClaim asks for more storage for this very claim.
func (s *Reconciler) growClaim(ctx context.Context, box *modelv1.ModelBox, claim *corev1.PersistentVolumeClaim, size resource.Quantity) error {
	if _, err := s.patchClaim(ctx, box, claim, map[string]any{"spec": map[string]any{
		"resources": map[string]any{"requests": corev1.ResourceList{corev1.ResourceStorage: size}},
	}}); err != nil {
		return err
	}
	s.Eventf(box, nil, corev1.EventTypeNormal, "UpdatedPersistentVolumeClaim", "Update",
		"Grew PersistentVolumeClaim %s from %s to %s", claim.Name, claim.Spec.Resources.Requests.Storage(), &size)
	klog.FromContext(ctx).V(2).Info("Grew claim", "claim", klog.KObj(claim), "size", size.String())
	return nil
}

// PendingClaims returns the claims that were made for the box and have no volume yet, by their names, with what to say of each.
func (s *Reconciler) PendingClaims(box *modelv1.ModelBox) (map[string]string, error) {
	if len(box.Spec.Storage) == 0 {
		return nil, nil
	}
	claims, err := s.claimsOf(apply.KeyOf(box))
	if err != nil {
		return nil, err
	}
	pending := map[string]string{}
	for _, claim := range claims {
		if claim.Status.Phase != corev1.ClaimPending {
			continue
		}
		class := "no storage class"
		if name := ptr.Deref(claim.Spec.StorageClassName, ""); name != "" {
			class = fmt.Sprintf("storage class %q", name)
		}
		pending[claim.Name] = fmt.Sprintf("PersistentVolumeClaim %s, of %s, is Pending", claim.Name, class)
	}
	return pending, nil
}
