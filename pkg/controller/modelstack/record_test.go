// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package modelstack

import (
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	clienttesting "k8s.io/client-go/testing"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	modelstackrender "github.com/sharelinuxs/modelbox-apiserver/pkg/render/modelstack"
)

// records are the ControllerRevisions that there are.
func (f *testController) records() []appsv1.ControllerRevision {
	f.t.Helper()
	list, err := f.cluster.AppsV1().ControllerRevisions("").List(f.t.Context(), metav1.ListOptions{LabelSelector: modelstackrender.ChildSelector})
	if err != nil {
		f.t.Fatal(err)
	}
	return list.Items
}

// recorded is the stack that the only record says there is.
func (f *testController) recorded() *modelv1.ModelStack {
	f.t.Helper()
	records := f.records()
	if len(records) != 1 {
		f.t.Fatalf("there are %d records", len(records))
	}
	stack, err := modelstackrender.ReadRecord(&records[0])
	if err != nil {
		f.t.Fatal(err)
	}
	return stack
}

// expectRecorded checks that the stack is recorded as it is.
func (f *testController) expectRecorded() {
	f.t.Helper()
	want, got := f.stack(), f.recorded()
	check(f.t, "recorded spec", want.Spec, got.Spec)
	check(f.t, "recorded labels", want.Labels, got.Labels)
	check(f.t, "recorded finalizers", want.Finalizers, got.Finalizers)
	check(f.t, "recorded UID", want.UID, got.UID)
	check(f.t, "recorded generation", want.Generation, got.Generation)
}

func TestRecordIsThatOfTheStackAsItIs(t *testing.T) {
	for _, row := range []struct {
		name   string
		change func(*modelv1.ModelStack)
		want   []string
	}{
		{"a stack that is left alone", func(stack *modelv1.ModelStack) { stack.Generation-- }, nil},
		{"another spec", func(stack *modelv1.ModelStack) { stack.Spec.Components[1].Box.Image = "web:2" }, []string{"patch", "delete"}},
		{"another label", func(stack *modelv1.ModelStack) { stack.Labels = map[string]string{"team": "a"}; stack.Generation-- }, []string{"patch", "delete"}},
		{"paused", func(stack *modelv1.ModelStack) { stack.Spec.Paused = true }, []string{"patch", "delete"}},
	} {
		t.Run(row.name, func(t *testing.T) {
			f := newTestController(t, newStack(boxComponent("db"), boxComponent("web", "db")))
			f.settle()
			f.expectRecorded()
			f.update(row.change)
			f.reconcile()
			check(t, "writes", row.want, f.recordWrites)
			f.expectRecorded()
			f.settle()
			check(t, "writes of what is up to date", []string(nil), f.recordWrites)
			f.expectRecorded()
		})
	}
}

func TestRecordIsWrittenBeforeComponentsAndInSilence(t *testing.T) {
	f := newTestController(t, newStack(boxComponent("db")))
	f.cluster.PrependReactor("patch", "controllerrevisions", func(clienttesting.Action) (bool, runtime.Object, error) {
		check(t, "boxes", []string(nil), f.boxes())
		return false, nil, nil
	})
	f.reconcile()
	check(t, "writes", []string{"patch"}, f.recordWrites)
	check(t, "number of events", 1, len(f.told()))
}

func TestEarlierRecordStaysWhileThereIsNoLaterOne(t *testing.T) {
	f := newTestController(t, newStack(boxComponent("db")))
	f.settle()
	before := f.records()[0].Name
	isRefused := true
	f.cluster.PrependReactor("patch", "controllerrevisions", func(clienttesting.Action) (bool, runtime.Object, error) {
		return isRefused, nil, apierrors.NewForbidden(schema.GroupResource{Resource: "controllerrevisions"}, "", nil)
	})
	f.update(func(stack *modelv1.ModelStack) { stack.Labels = map[string]string{"team": "a"} })
	if _, err := f.Controller.ReconcileKey(t.Context(), shopKey); err == nil {
		t.Error("a stack that cannot be recorded is reconciled without an error")
	}
	f.catchUp()
	check(t, "record", before, f.records()[0].Name)
	check(t, "applied", "False "+modelv1.ReasonForbidden, f.condition(modelv1.ConditionApplied))
	isRefused = false
	f.settle()
	f.expectRecorded()
}

// A client that may delete an immutable record can create it again with other contents.
func TestRecordThatSaysSomethingElseIsReplaced(t *testing.T) {
	f := newTestController(t, newStack(boxComponent("db")))
	f.settle()
	forged := f.records()[0]
	forged.Data.Raw = []byte(`{"record":""}`)
	if _, err := f.cluster.AppsV1().ControllerRevisions(forged.Namespace).Update(t.Context(), &forged, metav1.UpdateOptions{FieldManager: "test"}); err != nil {
		t.Fatal(err)
	}
	f.catchUp()
	f.reconcile()
	// A dry run asks first whether the creation is accepted.
	check(t, "writes", []string{"create", "delete", "patch"}, f.recordWrites)
	f.expectRecorded()
}

// A stack has a record until it is gone. A stack that is being deleted and orphans its components has none.
func TestRecordOfAStackThatIsBeingDeleted(t *testing.T) {
	for _, row := range []struct {
		name      string
		finalizer []string
		want      int
	}{
		{"in order", nil, 1},
		{"and leaves its components", []string{metav1.FinalizerOrphanDependents}, 0},
	} {
		t.Run(row.name, func(t *testing.T) {
			f := newTestController(t, newStack(boxComponent("db"), boxComponent("web", "db")))
			f.settle()
			f.beginDeletion(row.finalizer...)
			for range 4 {
				f.reconcile()
			}
			check(t, "number of records", row.want, len(f.records()))
			check(t, "state of the deletion", row.want == 1, len(f.stack().Finalizers) == 0)
		})
	}
}

// A stack without a record is not restored when the store of the server is lost, and works all the same.
func TestAStackThatIsTooLargeHasNoRecord(t *testing.T) {
	db := boxComponent("db")
	db.Box.Args = []string{strings.Repeat("x", 1<<20)}
	f := newTestController(t, newStack(db))
	f.settle()
	check(t, "number of records", 0, len(f.records()))
	check(t, "boxes", []string{"db"}, f.boxes())
	check(t, "applied", "True Applied", f.condition(modelv1.ConditionApplied))
}
