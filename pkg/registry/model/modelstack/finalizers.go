// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package modelstack

import (
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model"
	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
)

// prepareFinalizers keeps the finalizer of a stack as spec.deletion has it, so that there is no moment in which a stack
// could go without its components. It takes it away, and so lets a stack go that is being deleted, when the deletion is no
// longer ordered and when the components have been orphaned: neither needs a controller. old is nil for a new stack.
func prepareFinalizers(stack, old *model.ModelStack) {
	isOrdered := stack.Spec.Deletion == model.ComponentsOrdered
	switch has := slices.Contains(stack.Finalizers, modelv1.OrderedDeletionFinalizer); {
	case has && (!isOrdered || isOrphaned(stack, old)):
		stack.Finalizers = slices.DeleteFunc(slices.Clone(stack.Finalizers), func(name string) bool {
			return name == modelv1.OrderedDeletionFinalizer
		})
	case !has && isOrdered && stack.DeletionTimestamp == nil:
		stack.Finalizers = append(slices.Clone(stack.Finalizers), modelv1.OrderedDeletionFinalizer)
	}
}

// isOrphaned returns whether the update is that of the garbage collector after it has orphaned the components.
func isOrphaned(stack, old *model.ModelStack) bool {
	return old != nil && stack.DeletionTimestamp != nil &&
		slices.Contains(old.Finalizers, metav1.FinalizerOrphanDependents) &&
		!slices.Contains(stack.Finalizers, metav1.FinalizerOrphanDependents)
}
