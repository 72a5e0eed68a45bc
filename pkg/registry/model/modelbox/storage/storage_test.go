// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package storage

import (
	"context"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	genericregistrytest "k8s.io/apiserver/pkg/registry/generic/testing"
	"k8s.io/apiserver/pkg/registry/rest"
	"k8s.io/utils/ptr"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/registry/model/modelbox"
)

// tester has the suites that every registry of Kubernetes passes.
func tester(t *testing.T) *genericregistrytest.Tester {
	store := newStorage(t).ModelBox.Store
	store.CreateStrategy = timelessStrategy{store.CreateStrategy.(modelbox.Strategy)}
	return genericregistrytest.New(t, store)
}

// timelessStrategy creates the same box at any time: the suites compare boxes that they have created one after the other.
type timelessStrategy struct{ modelbox.Strategy }

func (s timelessStrategy) PrepareForCreate(ctx context.Context, obj runtime.Object) {
	s.Strategy.PrepareForCreate(ctx, obj)
	for i := range obj.(*model.ModelBox).Status.Conditions {
		obj.(*model.ModelBox).Status.Conditions[i].LastTransitionTime = metav1.Unix(1_700_000_000, 0)
	}
}

func TestCreate(t *testing.T) {
	tester := tester(t)
	box := func(change func(*model.ModelBox)) *model.ModelBox {
		box := newBox()
		box.Namespace = tester.TestNamespace()
		change(box)
		return box
	}
	tester.TestCreate(
		box(func(box *model.ModelBox) { box.ObjectMeta = metav1.ObjectMeta{} }),
		box(func(box *model.ModelBox) { box.Spec.Image = "" }),
		box(func(box *model.ModelBox) { box.Name = "Not_A_Name" }),
		box(func(box *model.ModelBox) { box.Spec.Replicas = ptr.To[int32](-1) }),
	)
}

func TestUpdate(t *testing.T) {
	update := func(change func(*model.ModelBox)) func(runtime.Object) runtime.Object {
		return func(object runtime.Object) runtime.Object {
			change(object.(*model.ModelBox))
			return object
		}
	}
	tester(t).TestUpdate(newBox(),
		update(func(box *model.ModelBox) { box.Spec.Image = "nginx:2" }),
		update(func(box *model.ModelBox) { box.Spec.Image = "" }),
		update(func(box *model.ModelBox) { box.Spec.Ports[0].Port = 0 }),
	)
}

func TestGet(t *testing.T) { tester(t).TestGet(newBox()) }

func TestList(t *testing.T) { tester(t).TestList(newBox()) }

func TestDelete(t *testing.T) { tester(t).TestDelete(newBox()) }

func TestWatch(t *testing.T) {
	tester := tester(t)
	box := newBox()
	box.Namespace = tester.TestNamespace()
	tester.TestWatch(box,
		[]labels.Set{{"team": "shop"}},
		[]labels.Set{{"team": "mail"}},
		[]fields.Set{{"metadata.name": "web"}, {"spec.image": "nginx:1.7.9"}, {"spec.serviceType": "ClusterIP", "status.ready": "false"}},
		[]fields.Set{{"metadata.name": "mail"}, {"spec.image": "nginx:2"}, {"status.ready": "true"}},
	)
}

func TestShortNamesCategoriesAndSingularName(t *testing.T) {
	boxes := newStorage(t).ModelBox
	if got := boxes.ShortNames(); !slices.Equal(got, []string{"mb"}) {
		t.Errorf("short names: %q", got)
	}
	if got := boxes.Categories(); !slices.Equal(got, []string{"all"}) {
		t.Errorf("categories: %q", got)
	}
	if got := boxes.GetSingularName(); got != "modelbox" {
		t.Errorf("singular: %q", got)
	}
}

func TestStatusIsWrittenByItself(t *testing.T) {
	storage := newStorage(t)
	box := create(t, storage, newBox()).DeepCopy()
	box.Status = model.ModelBoxStatus{Replicas: 2}
	box.Spec.Image = "nginx:2"
	updated, _, err := storage.Status.Update(inDefault(t), "web", rest.DefaultUpdatedObjectInfo(box),
		rest.ValidateAllObjectFunc, rest.ValidateAllObjectUpdateFunc, false, &metav1.UpdateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	got := get(t, storage)
	if diff := cmp.Diff(updated, runtime.Object(got)); diff != "" {
		t.Errorf("what was answered and what is stored, -answered +stored:\n%s", diff)
	}
	if got.Status.Replicas != 2 || got.Spec.Image != "nginx:1.7.9" || got.Generation != 1 {
		t.Errorf("got replicas %d, image %s, generation %d", got.Status.Replicas, got.Spec.Image, got.Generation)
	}
}

func TestSubresourcesCreateNoBox(t *testing.T) {
	storage := newStorage(t)
	box := newBox()
	box.ResourceVersion = "1"
	_, _, err := storage.Status.Update(inDefault(t), "web", rest.DefaultUpdatedObjectInfo(box),
		rest.ValidateAllObjectFunc, rest.ValidateAllObjectUpdateFunc, true, &metav1.UpdateOptions{})
	if !apierrors.IsNotFound(err) {
		t.Errorf("status: got %v", err)
	}
	if _, err := updateScale(t, storage, nil, func(*scale) {}); !apierrors.IsNotFound(err) {
		t.Errorf("scale: got %v", err)
	}
	if _, err := storage.Scale.Get(inDefault(t), "web", &metav1.GetOptions{}); !apierrors.IsNotFound(err) {
		t.Errorf("scale: got %v", err)
	}
}

func TestDryRunStoresNothing(t *testing.T) {
	storage := newStorage(t)
	dryRun := []string{metav1.DryRunAll}
	created, err := storage.ModelBox.Create(inDefault(t), newBox(), rest.ValidateAllObjectFunc, &metav1.CreateOptions{DryRun: dryRun})
	if err != nil {
		t.Fatal(err)
	}
	if created.(*model.ModelBox).Generation != 1 {
		t.Error("the answer is not what would be stored")
	}
	if _, err := storage.ModelBox.Get(inDefault(t), "web", &metav1.GetOptions{}); !apierrors.IsNotFound(err) {
		t.Errorf("a dry create stored the box: %v", err)
	}

	create(t, storage, newBox())
	changed, err := updateScale(t, storage, &metav1.UpdateOptions{DryRun: dryRun}, func(scale *scale) { scale.Spec.Replicas = 7 })
	if err != nil {
		t.Fatal(err)
	}
	if changed.Spec.Replicas != 7 {
		t.Errorf("the answer is %d replicas, not what would be stored", changed.Spec.Replicas)
	}
	if got := *get(t, storage).Spec.Replicas; got != 2 {
		t.Errorf("a dry scale stored %d replicas", got)
	}
}
