// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package storage

import (
	"context"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metainternalversion "k8s.io/apimachinery/pkg/apis/meta/internalversion"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"
	genericapirequest "k8s.io/apiserver/pkg/endpoints/request"
	"k8s.io/apiserver/pkg/registry/rest"
	"k8s.io/utils/ptr"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/helper"
)

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

func withFinalizers(finalizers ...string) func(*model.ModelBox) {
	return func(box *model.ModelBox) { box.Finalizers = finalizers }
}

func withTeam(team string) func(*model.ModelBox) {
	return func(box *model.ModelBox) { box.Labels = map[string]string{"team": team} }
}

// inDefault is the context of a request in the default namespace.
func inDefault(t testing.TB) context.Context {
	return genericapirequest.WithNamespace(t.Context(), metav1.NamespaceDefault)
}

// create stores a box in the default namespace.
func create(t testing.TB, storage *Storage, box *model.ModelBox) *model.ModelBox {
	t.Helper()
	created, err := storage.ModelBox.Create(inDefault(t), box, rest.ValidateAllObjectFunc, &metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return created.(*model.ModelBox)
}

// get reads the box named web.
func get(t testing.TB, storage *Storage) *model.ModelBox {
	t.Helper()
	box, err := storage.ModelBox.Get(inDefault(t), "web", &metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return box.(*model.ModelBox)
}

// update changes the box named web as a request that reads, changes and writes it, over again when it has to.
func update(t testing.TB, storage *Storage, change func(*model.ModelBox)) *model.ModelBox {
	t.Helper()
	updated, err := tryUpdate(inDefault(t), storage, "web", change)
	if err != nil {
		t.Fatal(err)
	}
	return updated
}

func tryUpdate(ctx context.Context, storage *Storage, name string, change func(*model.ModelBox)) (*model.ModelBox, error) {
	updated, _, err := storage.ModelBox.Update(ctx, name, changed(change),
		rest.ValidateAllObjectFunc, rest.ValidateAllObjectUpdateFunc, false, &metav1.UpdateOptions{})
	if err != nil {
		return nil, err
	}
	return updated.(*model.ModelBox), nil
}

// setReady writes the status of the box named web, as the controller does.
func setReady(t testing.TB, storage *Storage, status metav1.ConditionStatus) *model.ModelBox {
	t.Helper()
	updated, _, err := storage.Status.Update(inDefault(t), "web", changed(func(box *model.ModelBox) {
		box.Status.Conditions[0].Status = status
	}), rest.ValidateAllObjectFunc, rest.ValidateAllObjectUpdateFunc, false, &metav1.UpdateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return updated.(*model.ModelBox)
}

func changed(change func(*model.ModelBox)) rest.UpdatedObjectInfo {
	return rest.DefaultUpdatedObjectInfo(nil, func(_ context.Context, _, old runtime.Object) (runtime.Object, error) {
		box := old.DeepCopyObject().(*model.ModelBox)
		change(box)
		return box, nil
	})
}

// remove deletes the box of the name.
func remove(t testing.TB, storage *Storage, name string, options *metav1.DeleteOptions) *model.ModelBox {
	t.Helper()
	box, _, err := storage.ModelBox.Delete(inDefault(t), name, rest.ValidateAllObjectFunc, options)
	if err != nil {
		t.Fatal(err)
	}
	// What is gone is answered with a Status.
	left, _ := box.(*model.ModelBox)
	return left
}

// list reads boxes of the default namespace.
func list(t testing.TB, storage *Storage, options *metainternalversion.ListOptions) *model.ModelBoxList {
	t.Helper()
	boxes, err := tryList(inDefault(t), storage, options)
	if err != nil {
		t.Fatal(err)
	}
	return boxes
}

func tryList(ctx context.Context, storage *Storage, options *metainternalversion.ListOptions) (*model.ModelBoxList, error) {
	boxes, err := storage.ModelBox.List(ctx, options)
	if err != nil {
		return nil, err
	}
	return boxes.(*model.ModelBoxList), nil
}

// expectBoxes checks the names and the images of boxes.
func expectBoxes(t testing.TB, boxes *model.ModelBoxList, want ...string) {
	t.Helper()
	got := []string{}
	for i := range boxes.Items {
		got = append(got, describe(&boxes.Items[i]))
	}
	if diff := cmp.Diff(append([]string{}, want...), got); diff != "" {
		t.Errorf("boxes, -want +got:\n%s", diff)
	}
}

func describe(box *model.ModelBox) string { return box.Name + " " + box.Spec.Image }
