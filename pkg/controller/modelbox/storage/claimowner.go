// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package storage

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/klog/v2"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/helper"
	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/apply"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/children"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/modelbox/kinds"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/timeout"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/render"
	modelboxrender "github.com/sharelinuxs/modelbox-apiserver/pkg/render/modelbox"
)

// ownStatefulSet returns the StatefulSet of the box as the cache has it, nil where there is none.
func (s *Reconciler) ownStatefulSet(box *modelv1.ModelBox) (*appsv1.StatefulSet, error) {
	if box.Spec.Workload != modelv1.WorkloadStatefulSet {
		return nil, nil
	}
	object, err := s.Children.Live(box).Child(modelboxrender.WorkloadKind(box), box.Name)
	if err != nil {
		return nil, err
	}
	if set, isThere := object.(*appsv1.StatefulSet); isThere && s.Children.IsOwnedBy(set, box) {
		return set, nil
	}
	return nil, nil
}

// discardsClaims returns whether the claims of the pods go with their StatefulSet.
func discardsClaims(set *appsv1.StatefulSet) bool {
	policy := set.Spec.PersistentVolumeClaimRetentionPolicy
	return policy != nil && policy.WhenDeleted == appsv1.DeletePersistentVolumeClaimRetentionPolicyType
}

// hasClaimTemplate returns whether the StatefulSet makes claims for storage of the name.
func hasClaimTemplate(set *appsv1.StatefulSet, storage string) bool {
	return slices.ContainsFunc(set.Spec.VolumeClaimTemplates, func(template corev1.PersistentVolumeClaim) bool { return template.Name == storage })
}

// isClaimOf returns whether a claim of that name is of the storage of the box.
func isClaimOf(box *modelv1.ModelBox, storage, claim string) bool {
	if box.Spec.Workload == modelv1.WorkloadStatefulSet {
		return helper.IsPodClaimName(claim, box.Name, storage)
	}
	return claim == helper.ClaimName(box.Name, storage)
}

// isClaimOfSpec returns whether a claim of that name is of storage that the box asks for.
func isClaimOfSpec(box *modelv1.ModelBox, claim string) bool {
	return slices.ContainsFunc(box.Spec.Storage, func(storage modelv1.ModelBoxStorage) bool { return isClaimOf(box, storage.Name, claim) })
}

// isOwnedBySet returns whether the claim goes with the StatefulSet, which may be nil. Not every Kubernetes makes it the controller.
func isOwnedBySet(claim *corev1.PersistentVolumeClaim, set *appsv1.StatefulSet) bool {
	return set != nil && slices.ContainsFunc(claim.OwnerReferences, func(owner metav1.OwnerReference) bool { return owner.UID == set.UID })
}

// setClaimOwner lets the owner own this very claim in place of the box and its StatefulSet, or neither where owner is nil.
func (s *Reconciler) setClaimOwner(ctx context.Context, box *modelv1.ModelBox, set *appsv1.StatefulSet, claim *corev1.PersistentVolumeClaim, owner *metav1.OwnerReference) error {
	owners := slices.DeleteFunc(slices.Clone(claim.OwnerReferences), func(owner metav1.OwnerReference) bool {
		return owner.UID == box.UID || set != nil && owner.UID == set.UID
	})
	if owner != nil {
		owners = append(owners, *owner)
	}
	if _, err := s.patchClaim(ctx, box, claim, map[string]any{"metadata": map[string]any{"ownerReferences": owners}}); err != nil {
		return err
	}
	klog.FromContext(ctx).V(2).Info("Changed the owner of claim", "claim", klog.KObj(claim), "owner", owner)
	return nil
}

// patchClaim changes this very claim as it was seen.
func (s *Reconciler) patchClaim(ctx context.Context, box *modelv1.ModelBox, claim *corev1.PersistentVolumeClaim, change map[string]any) (*corev1.PersistentVolumeClaim, error) {
	patch, err := encodePatch(claim, change)
	if err != nil {
		return nil, fmt.Errorf("encoding the change of PersistentVolumeClaim %s: %w", claim.Name, err)
	}
	patched, err := timeout.Request(ctx, func(ctx context.Context) (*corev1.PersistentVolumeClaim, error) {
		return s.kubeClient.CoreV1().PersistentVolumeClaims(claim.Namespace).
			Patch(ctx, claim.Name, types.MergePatchType, patch, metav1.PatchOptions{FieldManager: render.FieldManager})
	})
	if apierrors.IsNotFound(err) {
		return nil, fmt.Errorf("PersistentVolumeClaim %s: %w", claim.Name, children.ErrChildGone)
	}
	if err != nil {
		return nil, fmt.Errorf("changing PersistentVolumeClaim %s: %w", claim.Name, err)
	}
	s.Consistency.WroteAt(apply.KeyOf(box), box.UID, kinds.ClaimResource, patched.ResourceVersion)
	s.Metrics.ChildWritten(kinds.ClaimGVK.Kind, "update")
	return patched, nil
}

// encodePatch returns a merge patch of exactly this object in the version that was read.
func encodePatch(object metav1.Object, change map[string]any) ([]byte, error) {
	metadata, _ := change["metadata"].(map[string]any)
	if metadata == nil {
		metadata = map[string]any{}
		change["metadata"] = metadata
	}
	metadata["uid"], metadata["resourceVersion"] = object.GetUID(), object.GetResourceVersion()
	return json.Marshal(change)
}
