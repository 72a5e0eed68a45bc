// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package modelbox

import (
	"context"
	"fmt"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/klog/v2"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/helper"
	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/children"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/timeout"
	modelboxrender "github.com/sharelinuxs/modelbox-apiserver/pkg/render/modelbox"
)

// pruneDiscardedClaims deletes the claims of storage that was taken out of a box and is to go with its StatefulSet. It has to
// come before that StatefulSet is replaced: only that says which they are. A claim that a pod has stays until the pod is gone.
func (c *Controller) pruneDiscardedClaims(ctx context.Context, box *modelv1.ModelBox) error {
	claims, err := c.discardedClaims(box)
	if err != nil || len(claims) == 0 {
		return err
	}
	// What is lost is not lost on the word of a cache.
	now, err := timeout.Request(ctx, func(ctx context.Context) (*modelv1.ModelBox, error) {
		return c.modelClient.ModelV1().ModelBoxes(box.Namespace).Get(ctx, box.Name, metav1.GetOptions{})
	})
	if err != nil && !apierrors.IsNotFound(err) {
		return fmt.Errorf("reading the box anew: %w", err)
	}
	if err != nil || now.UID != box.UID || now.Generation != box.Generation || now.DeletionTimestamp != nil {
		return fmt.Errorf("the box %w", children.ErrOwnerChanged)
	}
	for _, claim := range claims {
		if err := c.pruneClaim(ctx, box, claim); err != nil {
			return err
		}
	}
	return nil
}

// replacesStatefulSet returns whether the step deletes the StatefulSet, which says what claims are to go with it.
func replacesStatefulSet(step *children.Step) bool {
	return step.Operation == children.Replace && step.Kind.GroupVersionKind.Kind == "StatefulSet"
}

// discardedClaims returns the claims that the StatefulSet of the box would take along if it were deleted, and that are of
// storage which the box does not ask for any more.
func (c *Controller) discardedClaims(box *modelv1.ModelBox) ([]*corev1.PersistentVolumeClaim, error) {
	if box.Spec.Workload != modelv1.WorkloadStatefulSet || box.Spec.Paused {
		return nil, nil
	}
	object, err := c.children.Live(box).Child(modelboxrender.WorkloadKind(box), box.Name)
	if err != nil {
		return nil, err
	}
	set, isThere := object.(*appsv1.StatefulSet)
	if !isThere || set.DeletionTimestamp != nil || !c.children.IsOwnedBy(set, box) || !discardsClaims(set) {
		return nil, nil
	}
	claims, err := c.claimsOf(keyOf(box))
	if err != nil {
		return nil, err
	}
	removed := slices.DeleteFunc(slices.Clone(set.Spec.VolumeClaimTemplates), func(template corev1.PersistentVolumeClaim) bool {
		return slices.ContainsFunc(box.Spec.Storage, func(storage modelv1.ModelBoxStorage) bool { return storage.Name == template.Name })
	})
	return slices.DeleteFunc(claims, func(claim *corev1.PersistentVolumeClaim) bool {
		return claim.DeletionTimestamp != nil || !metav1.IsControlledBy(claim, set) ||
			!slices.ContainsFunc(removed, func(template corev1.PersistentVolumeClaim) bool {
				return helper.IsPodClaimName(claim.Name, box.Name, template.Name)
			})
	}), nil
}

func discardsClaims(set *appsv1.StatefulSet) bool {
	policy := set.Spec.PersistentVolumeClaimRetentionPolicy
	return policy != nil && policy.WhenDeleted == appsv1.DeletePersistentVolumeClaimRetentionPolicyType
}

// pruneClaim deletes this very claim.
func (c *Controller) pruneClaim(ctx context.Context, box *modelv1.ModelBox, claim *corev1.PersistentVolumeClaim) error {
	_, err := timeout.Request(ctx, func(ctx context.Context) (struct{}, error) {
		return struct{}{}, c.kubeClient.CoreV1().PersistentVolumeClaims(claim.Namespace).
			Delete(ctx, claim.Name, metav1.DeleteOptions{Preconditions: metav1.NewUIDPreconditions(string(claim.UID))})
	})
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("deleting PersistentVolumeClaim %s: %w", claim.Name, err)
	}
	c.metrics.ChildWritten(claimGVK.Kind, "prune")
	c.eventf(box, corev1.EventTypeNormal, "PrunedPersistentVolumeClaim", "Prune",
		"Deleted PersistentVolumeClaim %s, which the box does not ask for any more", claim.Name)
	klog.FromContext(ctx).V(2).Info("Deleted claim", "claim", klog.KObj(claim))
	return nil
}
