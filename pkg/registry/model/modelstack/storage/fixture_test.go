// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package storage

import (
	"context"
	"errors"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/managedfields"
	genericapirequest "k8s.io/apiserver/pkg/endpoints/request"
	"k8s.io/apiserver/pkg/registry/rest"
	"k8s.io/utils/ptr"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model"
	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/registry/model/modelbox"
	modelboxrest "github.com/sharelinuxs/modelbox-apiserver/pkg/registry/model/modelbox/rest"
	modelboxstorage "github.com/sharelinuxs/modelbox-apiserver/pkg/registry/model/modelbox/storage"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/registry/registrytest"
	modelboxrender "github.com/sharelinuxs/modelbox-apiserver/pkg/render/modelbox"
)

// newStorage returns the stores of the only server of an etcd, in which there are no boxes.
func newStorage(t *testing.T) *Storage {
	t.Helper()
	backend := registrytest.NewBackend(t, model.Resource("modelstacks"), &model.ModelStack{})
	return newStorageBeside(t, backend, backend)
}

// newStorageWithBoxes returns the stores of a server, of which boxes have an etcd of their own.
func newStorageWithBoxes(t *testing.T) *Storage {
	t.Helper()
	storage := newStorageBeside(t, registrytest.NewBackend(t, model.Resource("modelstacks"), &model.ModelStack{}),
		registrytest.NewBackend(t, model.Resource("modelboxes"), &model.ModelBox{}))
	registrytest.Await(t, storage.Diff.boxes.Store)
	return storage
}

func newStorageBeside(t *testing.T, stacks, boxes *registrytest.Backend) *Storage {
	t.Helper()
	config := modelboxrest.Config{ChildReader: noChildren{}, Differ: imageDiffer{}, TypeConverter: managedfields.NewDeducedTypeConverter()}
	ofBoxes, err := modelboxstorage.NewStorage(boxes.Scheme, boxes.Options, nil, modelbox.SpecValidator{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	subresources, err := modelboxrest.New(boxes.Scheme, ofBoxes.ModelBox, nil, config)
	if err != nil {
		t.Fatal(err)
	}
	if stacks == boxes {
		t.Cleanup(ofBoxes.ModelBox.Destroy)
	}
	storage, err := NewStorage(stacks.Scheme, stacks.Options, ofBoxes.ModelBox, subresources.Diff, config)
	if err != nil {
		t.Fatal(err)
	}
	registrytest.Await(t, storage.ModelStack.Store)
	return storage
}

// noChildren reads a cluster without children of boxes.
type noChildren struct{ modelbox.ChildReader }

func (noChildren) Live(context.Context, *modelv1.ModelBox, func(schema.GroupVersionResource, string) bool) (modelboxrender.Live, error) {
	return modelboxrender.Live{}, nil
}

func (noChildren) Known(child *unstructured.Unstructured) *unstructured.Unstructured { return child }

// unreadableImage is the image of a box whose children imageDiffer cannot read.
const unreadableImage = "unreadable:1"

// imageDiffer says of each box what would run.
type imageDiffer struct{}

func (imageDiffer) Diff(_ context.Context, box *modelv1.ModelBox, _ []*unstructured.Unstructured, _ func(schema.GroupVersionResource) bool) ([]modelv1.ModelBoxChildDiff, error) {
	if box.Spec.Image == unreadableImage {
		return nil, errors.New("the cluster is unavailable")
	}
	return []modelv1.ModelBoxChildDiff{{Kind: "Deployment", Name: box.Name, Action: modelv1.DiffActionUpdate, Message: box.Spec.Image + " of " + string(box.UID)}}, nil
}

// inDefault is the context of a request in the default namespace.
func inDefault(t *testing.T) context.Context {
	return genericapirequest.WithNamespace(t.Context(), metav1.NamespaceDefault)
}

// shop is a stack of two boxes and something outside.
func shop() *model.ModelStack {
	return &model.ModelStack{
		ObjectMeta: metav1.ObjectMeta{Name: "shop", Namespace: metav1.NamespaceDefault},
		Spec: model.ModelStackSpec{
			Rollout:  model.ComponentsOrdered,
			Deletion: model.ComponentsOrdered,
			Components: []model.ModelStackComponent{
				{Name: "db", BoxName: "db", Box: &model.ModelBoxSpec{Image: "mysql:8.0", Replicas: ptr.To[int32](2)}},
				{Name: "web", BoxName: "web", Box: &model.ModelBoxSpec{Image: "nginx:1.7.9"}},
				{Name: "mail", BoxName: "mail", External: &model.ModelStackExternal{Host: "mail.example.com", Port: 25}},
			},
		},
	}
}

func create(t *testing.T, storage *Storage, stack *model.ModelStack) *model.ModelStack {
	t.Helper()
	created, err := storage.ModelStack.Create(inDefault(t), stack, rest.ValidateAllObjectFunc, &metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return created.(*model.ModelStack)
}

// items returns the items of a List.
func items(t *testing.T, list runtime.Object) []*unstructured.Unstructured {
	t.Helper()
	var objects []*unstructured.Unstructured
	for _, item := range list.(*metav1.List).Items {
		object := &unstructured.Unstructured{}
		if err := object.UnmarshalJSON(item.Raw); err != nil {
			t.Fatal(err)
		}
		objects = append(objects, object)
	}
	return objects
}
