// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package storage

import (
	"context"
	"testing"

	"github.com/google/go-cmp/cmp"
	metainternalversion "k8s.io/apimachinery/pkg/apis/meta/internalversion"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	genericapirequest "k8s.io/apiserver/pkg/endpoints/request"
	"k8s.io/apiserver/pkg/registry/rest"
	"k8s.io/utils/ptr"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model"
	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
)

func TestDeletionOfStacks(t *testing.T) {
	t.Parallel()
	ctx := genericapirequest.WithNamespace(t.Context(), metav1.NamespaceDefault)
	storage := newStorage(t)
	stacks := storage.ModelStack
	const ordered = modelv1.OrderedDeletionFinalizer
	deletes := map[string]func(string, *metav1.DeleteOptions) error{
		"one": func(name string, options *metav1.DeleteOptions) error {
			_, _, err := stacks.Delete(ctx, name, rest.ValidateAllObjectFunc, options)
			return err
		},
		"one that is being deleted already": func(name string, options *metav1.DeleteOptions) error {
			if _, _, err := stacks.Delete(ctx, name, rest.ValidateAllObjectFunc, &metav1.DeleteOptions{}); err != nil {
				return err
			}
			_, _, err := stacks.Delete(ctx, name, rest.ValidateAllObjectFunc, options)
			return err
		},
		"all": func(_ string, options *metav1.DeleteOptions) error {
			_, err := stacks.DeleteCollection(ctx, rest.ValidateAllObjectFunc, options, &metainternalversion.ListOptions{})
			return err
		},
	}
	for _, row := range []struct {
		name       string
		delete     string
		finalizers []string
		policy     metav1.DeletionPropagation
		want       []string
	}{
		{"in order, in the foreground", "one", []string{ordered}, metav1.DeletePropagationForeground, []string{ordered}},
		{"in order, in the foreground at last", "one that is being deleted already", []string{ordered}, metav1.DeletePropagationForeground, []string{ordered}},
		{"in order, all in the foreground", "all", []string{ordered}, metav1.DeletePropagationForeground, []string{ordered}},
		{"in order, in the background", "one", []string{ordered}, metav1.DeletePropagationBackground, []string{ordered}},
		{"in order, orphaning", "one", []string{ordered}, metav1.DeletePropagationOrphan, []string{ordered, metav1.FinalizerOrphanDependents}},
		{"without order, in the foreground", "one", []string{"example.com/backup"}, metav1.DeletePropagationForeground, []string{"example.com/backup", metav1.FinalizerDeleteDependents}},
		{"without order, all in the foreground", "all", []string{"example.com/backup"}, metav1.DeletePropagationForeground, []string{"example.com/backup", metav1.FinalizerDeleteDependents}},
	} {
		t.Run(row.name, func(t *testing.T) {
			stack := &model.ModelStack{
				ObjectMeta: metav1.ObjectMeta{Name: "shop", Namespace: metav1.NamespaceDefault, Finalizers: row.finalizers},
				Spec: model.ModelStackSpec{
					Components: []model.ModelStackComponent{{Name: "web", Box: &model.ModelBoxSpec{Image: "nginx:1.7.9"}}},
					Rollout:    model.ComponentsOrdered,
					Deletion:   model.ComponentsOrdered,
				},
			}
			if _, err := stacks.Create(ctx, stack, rest.ValidateAllObjectFunc, &metav1.CreateOptions{}); err != nil {
				t.Fatal(err)
			}
			if err := deletes[row.delete]("shop", &metav1.DeleteOptions{PropagationPolicy: ptr.To(row.policy)}); err != nil {
				t.Fatal(err)
			}
			left, err := stacks.Get(ctx, "shop", &metav1.GetOptions{})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(row.want, left.(*model.ModelStack).Finalizers); diff != "" {
				t.Errorf("finalizers, -want +got:\n%s", diff)
			}
			setFinalizers(ctx, t, stacks, nil)
		})
	}
}

// deletedStacks have one named shop whose ordered deletion has begun.
func deletedStacks(ctx context.Context, t *testing.T, policy metav1.DeletionPropagation) *REST {
	t.Helper()
	stacks := newStorage(t).ModelStack
	stack := &model.ModelStack{
		ObjectMeta: metav1.ObjectMeta{Name: "shop", Namespace: metav1.NamespaceDefault, Finalizers: []string{modelv1.OrderedDeletionFinalizer}},
		Spec: model.ModelStackSpec{
			Components: []model.ModelStackComponent{{Name: "web", Box: &model.ModelBoxSpec{Image: "nginx:1.7.9"}}},
			Rollout:    model.ComponentsOrdered,
			Deletion:   model.ComponentsOrdered,
		},
	}
	if _, err := stacks.Create(ctx, stack, rest.ValidateAllObjectFunc, &metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	if _, _, err := stacks.Delete(ctx, "shop", rest.ValidateAllObjectFunc, &metav1.DeleteOptions{PropagationPolicy: &policy}); err != nil {
		t.Fatal(err)
	}
	if _, err := stacks.Get(ctx, "shop", &metav1.GetOptions{}); err != nil {
		t.Fatalf("a stack whose components are to be deleted in order: %v", err)
	}
	return stacks
}

// expectGone checks that the stack named shop does not wait for a controller.
func expectGone(ctx context.Context, t *testing.T, stacks *REST) {
	t.Helper()
	if left, err := stacks.Get(ctx, "shop", &metav1.GetOptions{}); err == nil {
		t.Errorf("it is still there, with the finalizers %q", left.(*model.ModelStack).Finalizers)
	}
}

// An orphaned stack goes in the write by which the garbage collector says that it has orphaned the components.
func TestOrphanedStacksGo(t *testing.T) {
	t.Parallel()
	ctx := genericapirequest.WithNamespace(t.Context(), metav1.NamespaceDefault)
	stacks := deletedStacks(ctx, t, metav1.DeletePropagationOrphan)
	setFinalizers(ctx, t, stacks, []string{modelv1.OrderedDeletionFinalizer})
	expectGone(ctx, t, stacks)
}

// There may no longer be a controller that deletes the components in order.
func TestStacksGoThatAreNoLongerDeletedInOrder(t *testing.T) {
	t.Parallel()
	ctx := genericapirequest.WithNamespace(t.Context(), metav1.NamespaceDefault)
	for _, policy := range []metav1.DeletionPropagation{metav1.DeletePropagationBackground, metav1.DeletePropagationForeground} {
		t.Run(string(policy), func(t *testing.T) {
			stacks := deletedStacks(ctx, t, policy)
			update(ctx, t, stacks, func(stack *model.ModelStack) { stack.Spec.Deletion = model.ComponentsParallel })
			expectGone(ctx, t, stacks)
		})
	}
}

func setFinalizers(ctx context.Context, t *testing.T, stacks *REST, finalizers []string) {
	t.Helper()
	update(ctx, t, stacks, func(stack *model.ModelStack) { stack.Finalizers = finalizers })
}

// update changes the stack named shop.
func update(ctx context.Context, t *testing.T, stacks *REST, change func(*model.ModelStack)) {
	t.Helper()
	changed := rest.DefaultUpdatedObjectInfo(nil, func(_ context.Context, _, old runtime.Object) (runtime.Object, error) {
		stack := old.DeepCopyObject().(*model.ModelStack)
		change(stack)
		return stack, nil
	})
	if _, _, err := stacks.Update(ctx, "shop", changed, rest.ValidateAllObjectFunc, rest.ValidateAllObjectUpdateFunc, false, &metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
}
