// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package modelstack

import (
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model"
	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
)

// releaseFinalizers takes the finalizer of the controller off a stack whose deletion is no longer ordered, and off one whose
// components have been orphaned: both can go without a controller. old is nil for a new stack.
func releaseFinalizers(stack, old *model.ModelStack) {
	if stack.Spec.Deletion == model.ComponentsOrdered && !isOrphaned(stack, old) {
		return
	}
	stack.Finalizers = slices.DeleteFunc(slices.Clone(stack.Finalizers), func(name string) bool {
		return name == modelv1.OrderedDeletionFinalizer
	})
}

// isOrphaned returns whether the update is the update of the garbage collector after it has orphaned the components.
func isOrphaned(stack, old *model.ModelStack) bool {
	return old != nil && stack.DeletionTimestamp != nil &&
		slices.Contains(old.Finalizers, metav1.FinalizerOrphanDependents) &&
		!slices.Contains(stack.Finalizers, metav1.FinalizerOrphanDependents)
}
