// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package storage

import (
	"context"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/registry/rest"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model"
)

type scale = autoscalingv1.Scale

// updateScale changes the scale of the box named web, as a request that reads, changes and writes it.
func updateScale(t *testing.T, storage *Storage, options *metav1.UpdateOptions, change func(*scale)) (*scale, error) {
	t.Helper()
	if options == nil {
		options = &metav1.UpdateOptions{}
	}
	info := rest.DefaultUpdatedObjectInfo(nil, func(_ context.Context, _, old runtime.Object) (runtime.Object, error) {
		changed := old.DeepCopyObject().(*scale)
		change(changed)
		return changed, nil
	})
	updated, created, err := storage.Scale.Update(inDefault(t), "web", info,
		rest.ValidateAllObjectFunc, rest.ValidateAllObjectUpdateFunc, true, options)
	if err != nil {
		return nil, err
	}
	if created {
		t.Error("a scale was created")
	}
	return updated.(*scale), nil
}

func TestScaleIsTheBoxsReplicas(t *testing.T) {
	storage := newStorage(t)
	box := create(t, storage, newBox()).DeepCopy()
	box.Status.Replicas, box.Status.Selector = 1, "modelbox=web"
	if _, _, err := storage.Status.Update(inDefault(t), "web", rest.DefaultUpdatedObjectInfo(box),
		rest.ValidateAllObjectFunc, rest.ValidateAllObjectUpdateFunc, false, &metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
	box = get(t, storage)

	got, err := storage.Scale.Get(inDefault(t), "web", &metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	want := &scale{
		ObjectMeta: metav1.ObjectMeta{
			Name: "web", Namespace: "default", UID: box.UID, ResourceVersion: box.ResourceVersion, CreationTimestamp: box.CreationTimestamp,
		},
		Spec:   autoscalingv1.ScaleSpec{Replicas: 2},
		Status: autoscalingv1.ScaleStatus{Replicas: 1, Selector: "modelbox=web"},
	}
	if diff := cmp.Diff(runtime.Object(want), got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestScaling(t *testing.T) {
	storage := newStorage(t)
	before := create(t, storage, newBox())
	updated, err := updateScale(t, storage, nil, func(scale *scale) {
		scale.Spec.Replicas = 5
		scale.Labels = map[string]string{"not": "taken"}
	})
	if err != nil {
		t.Fatal(err)
	}
	after := get(t, storage)
	if updated.Spec.Replicas != 5 || updated.ResourceVersion != after.ResourceVersion {
		t.Errorf("got %+v", updated)
	}
	want := before.DeepCopy()
	*want.Spec.Replicas = 5
	want.Generation = 2
	if diff := cmp.Diff(want, after, cmpopts.IgnoreFields(metav1.ObjectMeta{}, "ResourceVersion")); diff != "" {
		t.Errorf("the box, -want +got:\n%s", diff)
	}
}

func TestScalesThatAreRefused(t *testing.T) {
	storage := newStorage(t)
	create(t, storage, newBox())
	for _, row := range []struct {
		name   string
		change func(*scale)
		is     func(error) bool
	}{
		{"fewer than no replicas", func(scale *scale) { scale.Spec.Replicas = -1 }, apierrors.IsInvalid},
		{"a version that is none", func(scale *scale) { scale.Spec.Replicas, scale.ResourceVersion = 3, "abc" }, apierrors.IsInvalid},
		{"an older version", func(scale *scale) { scale.Spec.Replicas, scale.ResourceVersion = 3, "1" }, apierrors.IsConflict},
		{"another box of the name", func(scale *scale) { scale.Spec.Replicas, scale.UID = 3, "another" }, apierrors.IsConflict},
	} {
		t.Run(row.name, func(t *testing.T) {
			if _, err := updateScale(t, storage, nil, row.change); !row.is(err) {
				t.Errorf("got %v", err)
			}
			if got := *get(t, storage).Spec.Replicas; got != 2 {
				t.Errorf("the box has %d replicas", got)
			}
		})
	}
}

func TestScalingAStatefulSet(t *testing.T) {
	storage := newStorage(t)
	create(t, storage, newBox(func(box *model.ModelBox) {
		box.Spec.Workload, box.Spec.RollingUpdate = model.WorkloadStatefulSet, nil
	}))
	if _, err := updateScale(t, storage, nil, func(scale *scale) { scale.Spec.Replicas = 5 }); err != nil {
		t.Fatal(err)
	}
	if got := *get(t, storage).Spec.Replicas; got != 5 {
		t.Errorf("the box has %d replicas, want 5", got)
	}
}

func TestWorkloadWithoutReplicasHasNoScale(t *testing.T) {
	for _, row := range []struct {
		workload model.Workload
		because  string
	}{
		{model.WorkloadDaemonSet, "a DaemonSet, which runs a pod on every node"},
		{model.WorkloadJob, "a Job, whose pods run until they have succeeded"},
	} {
		storage := newStorage(t)
		create(t, storage, newBox(func(box *model.ModelBox) {
			box.Spec.Workload, box.Spec.RollingUpdate, box.Spec.Replicas = row.workload, nil, nil
			if row.workload.RunsToCompletion() {
				box.Spec.MinReadySeconds = nil
			}
		}))
		_, readErr := storage.Scale.Get(inDefault(t), "web", &metav1.GetOptions{})
		_, writeErr := updateScale(t, storage, nil, func(scale *scale) { scale.Spec.Replicas = 5 })
		for action, err := range map[string]error{"reading": readErr, "writing": writeErr} {
			want := `modelboxes.model.github.com "web" cannot be scaled: its workload is ` + row.because
			if !apierrors.IsBadRequest(err) || err.Error() != want {
				t.Errorf("%s it: got %v, want %s", action, err, want)
			}
		}
		if got := get(t, storage).Spec.Replicas; got != nil {
			t.Errorf("the box has %d replicas, want none", *got)
		}
	}
}

func TestSomethingElseThanAScaleIsRefused(t *testing.T) {
	storage := newStorage(t)
	create(t, storage, newBox())
	info := rest.DefaultUpdatedObjectInfo(nil, func(context.Context, runtime.Object, runtime.Object) (runtime.Object, error) {
		return &model.ModelBox{}, nil
	})
	_, _, err := storage.Scale.Update(inDefault(t), "web", info,
		rest.ValidateAllObjectFunc, rest.ValidateAllObjectUpdateFunc, false, &metav1.UpdateOptions{})
	if !apierrors.IsBadRequest(err) {
		t.Errorf("got %v", err)
	}
}

// Admission sees scales, as it does for a Deployment.
func TestScalesAreValidatedAsScales(t *testing.T) {
	storage := newStorage(t)
	create(t, storage, newBox())
	var seen []int32
	validate := func(_ context.Context, obj, old runtime.Object) error {
		seen = append(seen, old.(*scale).Spec.Replicas, obj.(*scale).Spec.Replicas)
		return nil
	}
	info := rest.DefaultUpdatedObjectInfo(nil, func(_ context.Context, _, old runtime.Object) (runtime.Object, error) {
		changed := old.DeepCopyObject().(*scale)
		changed.Spec.Replicas = 3
		return changed, nil
	})
	if _, _, err := storage.Scale.Update(inDefault(t), "web", info, rest.ValidateAllObjectFunc, validate, false, &metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]int32{2, 3}, seen); diff != "" {
		t.Errorf("replicas before and after, -want +got:\n%s", diff)
	}
}

// A field keeps its manager whichever way it is written: who scales takes spec.replicas, and nothing else, from who
// applied the box.
func TestScalingTakesOwnershipOfTheReplicas(t *testing.T) {
	entry := func(manager, subresource, apiVersion, fields string) metav1.ManagedFieldsEntry {
		return metav1.ManagedFieldsEntry{
			Manager: manager, Operation: metav1.ManagedFieldsOperationUpdate, Subresource: subresource, APIVersion: apiVersion,
			FieldsType: "FieldsV1", FieldsV1: metav1.NewFieldsV1(fields),
		}
	}
	storage := newStorage(t)
	box := newBox()
	box.ManagedFields = []metav1.ManagedFieldsEntry{entry("kubectl", "", "model.github.com/v1", `{"f:spec":{"f:image":{},"f:replicas":{}}}`)}
	create(t, storage, box)

	var shown []metav1.ManagedFieldsEntry
	if _, err := updateScale(t, storage, nil, func(scale *scale) {
		shown = scale.ManagedFields
		scale.Spec.Replicas = 5
		scale.ManagedFields = []metav1.ManagedFieldsEntry{entry("autoscaler", "scale", "autoscaling/v1", `{"f:spec":{"f:replicas":{}}}`)}
	}); err != nil {
		t.Fatal(err)
	}

	want := []metav1.ManagedFieldsEntry{entry("kubectl", "", "autoscaling/v1", `{"f:spec":{"f:replicas":{}}}`)}
	if diff := cmp.Diff(want, shown); diff != "" {
		t.Errorf("managers of the scale before, -want +got:\n%s", diff)
	}
	want = []metav1.ManagedFieldsEntry{
		entry("kubectl", "", "model.github.com/v1", `{"f:spec":{"f:image":{}}}`),
		entry("autoscaler", "scale", "model.github.com/v1", `{"f:spec":{"f:replicas":{}}}`),
	}
	byManager := cmpopts.SortSlices(func(a, b metav1.ManagedFieldsEntry) bool { return a.Manager > b.Manager })
	if diff := cmp.Diff(want, get(t, storage).ManagedFields, byManager); diff != "" {
		t.Errorf("managers of the box after, -want +got:\n%s", diff)
	}
}

func TestAScaleIsAutoscalingV1(t *testing.T) {
	want := schema.GroupVersionKind{Group: "autoscaling", Version: "v1", Kind: "Scale"}
	if got := (&ScaleREST{}).GroupVersionKind(schema.GroupVersion{}); got != want {
		t.Errorf("got %s", got)
	}
}
