// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package modelstack

import (
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clienttesting "k8s.io/client-go/testing"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	modelstackrender "github.com/sharelinuxs/modelbox-apiserver/pkg/render/modelstack"
)

// orphanRecord creates the record of a stack without its owner.
func (f *testController) orphanRecord(of *modelv1.ModelStack) {
	f.t.Helper()
	rendered, err := modelstackrender.Record(of)
	if err != nil {
		f.t.Fatal(err)
	}
	rendered.SetOwnerReferences(nil)
	record := &appsv1.ControllerRevision{}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(rendered.Object, record); err != nil {
		f.t.Fatal(err)
	}
	if _, err := f.cluster.AppsV1().ControllerRevisions(record.Namespace).Create(f.t.Context(), record, metav1.CreateOptions{}); err != nil {
		f.t.Fatal(err)
	}
	f.catchUp()
}

// The garbage collector takes the owner off the record of a stack that leaves its components.
func TestRecordThatHasLostItsOwner(t *testing.T) {
	for _, row := range []struct {
		name string
		of   func(stack *modelv1.ModelStack)
		gone bool
		want int
	}{
		{"of an earlier stack of the name", func(stack *modelv1.ModelStack) { stack.UID = "earlier" }, false, 1},
		{"of the stack as it was before", func(stack *modelv1.ModelStack) { stack.Labels = map[string]string{"a": "b"} }, false, 2},
		{"of another stack", func(stack *modelv1.ModelStack) { stack.Name, stack.UID = "shop2", "other" }, false, 2},
		{"of a stack that is gone", func(*modelv1.ModelStack) {}, true, 0},
	} {
		t.Run(row.name, func(t *testing.T) {
			f := newTestController(t, newStack(boxComponent("db")))
			if row.gone {
				if err := f.models.ModelV1().ModelStacks(shopKey.Namespace).Delete(t.Context(), shopKey.Name, metav1.DeleteOptions{}); err != nil {
					t.Fatal(err)
				}
			} else {
				f.settle()
			}
			of := newStack(boxComponent("db"))
			row.of(of)
			f.orphanRecord(of)
			f.reconcile()
			check(t, "number of records", row.want, len(f.records()))
		})
	}
}

func TestOrphanedRecordThatCannotBeDeleted(t *testing.T) {
	records := appsv1.Resource("controllerrevisions")
	for _, row := range []struct {
		name     string
		err      error
		isFailed bool
	}{
		{"because a policy forbids it", apierrors.NewForbidden(records, "", nil), true},
		{"because it is gone", apierrors.NewNotFound(records, ""), false},
	} {
		t.Run(row.name, func(t *testing.T) {
			f := newTestController(t, newStack(boxComponent("db")))
			earlier := newStack(boxComponent("db"))
			earlier.UID = "earlier"
			f.orphanRecord(earlier)
			f.cluster.PrependReactor("delete", "controllerrevisions", func(clienttesting.Action) (bool, runtime.Object, error) { return true, nil, row.err })
			_, err := f.Controller.ReconcileKey(t.Context(), shopKey)
			check(t, "the reconcile fails", row.isFailed, err != nil)
			f.catchUp()
			check(t, "the stack is reconciled", !row.isFailed, len(f.boxes()) == 1)
		})
	}
}
