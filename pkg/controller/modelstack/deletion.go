// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package modelstack

import (
	"context"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/sets"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/apply"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/children"
	modelstackrender "github.com/sharelinuxs/modelbox-apiserver/pkg/render/modelstack"
)

// ensureFinalizer gives a stack the finalizer before it has components to delete in order. It returns whether the stack was
// written, and is to be looked at again when the cache shows that.
func (c *Controller) ensureFinalizer(ctx context.Context, stack *modelv1.ModelStack) (bool, error) {
	if !modelstackrender.DeletesInOrder(stack) || slices.Contains(stack.Finalizers, modelv1.OrderedDeletionFinalizer) {
		return false, nil
	}
	return true, c.SetFinalizers(ctx, stack, append(slices.Clone(stack.Finalizers), modelv1.OrderedDeletionFinalizer))
}

// reconcileDeletion deletes the components of a stack that is being deleted, each when those that depend on it have gone, and
// then lets the stack go, and its record with it. A stack without the finalizer, or whose components are to stay, is left to the
// garbage collector; of components that stay, there is no record to be kept.
func (c *Controller) reconcileDeletion(ctx context.Context, stack *modelv1.ModelStack) (time.Duration, error) {
	if err := c.deleteOrphanedRecords(ctx, apply.KeyOf(stack), stack.UID); err != nil {
		return 0, err
	}
	if slices.Contains(stack.Finalizers, metav1.FinalizerOrphanDependents) {
		return 0, c.children.Delete(ctx, stack, func(step *apply.Step) bool { return !step.Kind.RecordsOwner })
	}
	if !slices.Contains(stack.Finalizers, modelv1.OrderedDeletionFinalizer) {
		return 0, nil
	}
	owned, err := c.ownedComponents(stack)
	if err != nil {
		return 0, err
	}
	if len(owned) == 0 {
		return 0, c.SetFinalizers(ctx, stack, slices.DeleteFunc(slices.Clone(stack.Finalizers), func(finalizer string) bool {
			return finalizer == modelv1.OrderedDeletionFinalizer
		}))
	}
	users := usersOf(stack, owned)
	if err := c.children.Delete(ctx, stack, func(step *apply.Step) bool {
		return step.Kind.RecordsOwner || len(users[step.Live.GetLabels()[modelv1.ComponentLabel]]) > 0
	}); err != nil {
		return 0, err
	}
	return c.UpdateStatus(ctx, stack, deletingStatus(stack, owned, users))
}

// usersOf returns, for each component that has children, the nearest components that depend on it and have children. The stack says
// what its components depend on. The children of a component that is no longer in the stack say what that component depends on.
func usersOf(stack *modelv1.ModelStack, owned []children.Object) map[string][]string {
	dependencies, waiters, isKnown := map[string][]string{}, map[string][]string{}, sets.New[string]()
	add := func(name string, dependsOn []string) {
		isKnown.Insert(name)
		dependencies[name] = dependsOn
		for _, dependency := range dependsOn {
			waiters[dependency] = append(waiters[dependency], name)
		}
	}
	for i := range stack.Spec.Components {
		add(stack.Spec.Components[i].Name, stack.Spec.Components[i].DependsOn)
	}
	isThere := sets.New[string]()
	for _, child := range owned {
		name := child.GetLabels()[modelv1.ComponentLabel]
		isThere.Insert(name)
		if !isKnown.Has(name) {
			add(name, modelstackrender.DependsOn(child))
		}
	}
	users := make(map[string][]string, isThere.Len())
	for name := range isThere {
		below := closure(name, dependencies)
		users[name] = nearest(name, waiters, func(waiter string) bool { return isThere.Has(waiter) && !below.Has(waiter) })
	}
	return users
}

// closure returns the names of the components that one depends on, at whatever distance. Children that were written at different
// times may say that their components depend on each other: one that is above and below another does not wait for it.
func closure(name string, dependencies map[string][]string) sets.Set[string] {
	found := sets.New[string]()
	for next := slices.Clone(dependencies[name]); len(next) > 0; next = next[1:] {
		if !found.Has(next[0]) {
			found.Insert(next[0])
			next = append(next, dependencies[next[0]]...)
		}
	}
	return found
}

// nearest returns the waiters of a component that count, and in place of those that do not, theirs.
func nearest(name string, waiters map[string][]string, counts func(waiter string) bool) []string {
	found, seen := sets.New[string](), sets.New(name)
	for next := slices.Clone(waiters[name]); len(next) > 0; next = next[1:] {
		waiter := next[0]
		if seen.Has(waiter) {
			continue
		}
		seen.Insert(waiter)
		if counts(waiter) {
			found.Insert(waiter)
		} else {
			next = append(next, waiters[waiter]...)
		}
	}
	return sets.List(found)
}
