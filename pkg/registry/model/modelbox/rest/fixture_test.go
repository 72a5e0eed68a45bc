// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package rest

import (
	"context"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/managedfields"
	genericapirequest "k8s.io/apiserver/pkg/endpoints/request"
	"k8s.io/apiserver/pkg/registry/rest"
	"k8s.io/utils/ptr"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/helper"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/registry/model/modelbox"
	modelboxstorage "github.com/sharelinuxs/modelbox-apiserver/pkg/registry/model/modelbox/storage"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/registry/registrytest"
)

// testStorage is the store of boxes with their subresources.
type testStorage struct {
	*modelboxstorage.Storage
	*Subresources
}

// newBackend starts an etcd.
func newBackend(t testing.TB) *registrytest.Backend {
	t.Helper()
	return registrytest.NewBackend(t, model.Resource("modelboxes"), &model.ModelBox{})
}

// newStorage returns the store of the only server of an etcd.
func newStorage(t testing.TB) *testStorage {
	t.Helper()
	backend := newBackend(t)
	storage, err := modelboxstorage.NewStorage(backend.Scheme, backend.Options, nil, modelbox.SpecValidator{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	registrytest.Await(t, storage.ModelBox.Store)
	subresources, err := New(backend.Scheme, storage.ModelBox, nil, Config{TypeConverter: managedfields.NewDeducedTypeConverter()})
	if err != nil {
		t.Fatal(err)
	}
	return &testStorage{storage, subresources}
}

// patience is how long a test waits for what should happen at once. A machine that is busy is no bug.
const patience = 60 * time.Second

// eventually tries check until it returns nil, and fails the test with its last error when it never does.
func eventually(t testing.TB, what string, check func() error) {
	t.Helper()
	deadline := time.Now().Add(patience)
	for {
		err := check()
		if err == nil {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("waited %s for this: %s. At last: %v", patience, what, err)
		}
		time.Sleep(time.Millisecond)
	}
}

// newBox returns a valid box of two replicas, named web, with the given changes.
func newBox(changes ...func(*model.ModelBox)) *model.ModelBox {
	box := &model.ModelBox{
		ObjectMeta: metav1.ObjectMeta{Name: "web", Namespace: metav1.NamespaceDefault, Labels: map[string]string{"team": "shop"}},
		Spec: model.ModelBoxSpec{
			Name:            "web",
			Image:           "nginx:1.7.9",
			Replicas:        ptr.To[int32](2),
			Workload:        model.WorkloadDeployment,
			Strategy:        model.StrategyRollingUpdate,
			RollingUpdate:   helper.NewRollingUpdate(intstr.FromString("25%")),
			MinReadySeconds: ptr.To[int32](3),
			Ports:           []corev1.ServicePort{{Port: 80, Protocol: corev1.ProtocolTCP, TargetPort: intstr.FromInt32(80)}},
			ResourceType:    model.ResourceTypeCustom,
			DefaultProbes:   model.DefaultProbesEnabled,
		},
	}
	for _, change := range changes {
		change(box)
	}
	return box
}

func named(name string) func(*model.ModelBox) {
	return func(box *model.ModelBox) { box.Name = name }
}

func withImage(image string) func(*model.ModelBox) {
	return func(box *model.ModelBox) { box.Spec.Image = image }
}

// inDefault is the context of a request in the default namespace.
func inDefault(t testing.TB) context.Context {
	return genericapirequest.WithNamespace(t.Context(), metav1.NamespaceDefault)
}

// create stores a box in the default namespace.
func create(t testing.TB, storage *testStorage, box *model.ModelBox) *model.ModelBox {
	t.Helper()
	created, err := storage.ModelBox.Create(inDefault(t), box, rest.ValidateAllObjectFunc, &metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return created.(*model.ModelBox)
}

// get reads the box named web.
func get(t testing.TB, storage *testStorage) *model.ModelBox {
	t.Helper()
	box, err := storage.ModelBox.Get(inDefault(t), "web", &metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return box.(*model.ModelBox)
}

func changed(change func(*model.ModelBox)) rest.UpdatedObjectInfo {
	return rest.DefaultUpdatedObjectInfo(nil, func(_ context.Context, _, old runtime.Object) (runtime.Object, error) {
		box := old.DeepCopyObject().(*model.ModelBox)
		change(box)
		return box, nil
	})
}

// remove deletes the box of the name.
func remove(t testing.TB, storage *testStorage, name string, options *metav1.DeleteOptions) {
	t.Helper()
	if _, _, err := storage.ModelBox.Delete(inDefault(t), name, rest.ValidateAllObjectFunc, options); err != nil {
		t.Fatal(err)
	}
}

// expectGone checks that there is no box named web.
func expectGone(t *testing.T, storage *testStorage) {
	t.Helper()
	if _, err := storage.ModelBox.Get(inDefault(t), "web", &metav1.GetOptions{}); !apierrors.IsNotFound(err) {
		t.Errorf("the box is still there: %v", err)
	}
}
