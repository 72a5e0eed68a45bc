// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package modelstack

import (
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/children"
)

func TestReadyComponentsAreWrittenTogether(t *testing.T) {
	f := newTestController(t, newStack(boxComponent("a"), boxComponent("b"), boxComponent("c")))
	f.reconcile()
	f.reconcile()
	written := f.stack().ResourceVersion
	for _, name := range []string{"a", "b"} {
		f.setReady(name)
		f.reconcileAtOnce()
		f.reconcileAtOnce()
	}
	check(t, "states while the status is put off", "a=Progressing b=Progressing c=Progressing", f.states())
	check(t, "version while the status is put off", written, f.stack().ResourceVersion)
	f.told()
	f.reconcile()
	check(t, "states", "a=Ready b=Ready c=Progressing", f.states())
	f.setReady("c")
	f.reconcileAtOnce()
	check(t, "ready as soon as all are", "True Ready", f.condition(modelv1.ConditionReady))
	check(t, "story", []string{
		"Normal ComponentReady Component c is ready",
		"Normal StackReady 3 of 3 components are ready",
	}, f.told())
}

func TestEachComponentIsToldReadyOnceWhileTheStatusIsPutOff(t *testing.T) {
	f := newTestController(t, newStack(boxComponent("a"), boxComponent("b")))
	f.reconcile()
	f.reconcile()
	f.told()
	f.setReady("a")
	for range 3 {
		f.reconcileAtOnce()
	}
	f.reconcile()
	check(t, "story", []string{"Normal ComponentReady Component a is ready"}, f.told())
}

func TestStatusIsMereProgressWhileNoConditionChanges(t *testing.T) {
	for _, row := range []struct {
		name   string
		change func(*modelv1.ModelStackStatus)
		want   bool
	}{
		{"the components change", func(status *modelv1.ModelStackStatus) { status.ReadyComponents++ }, true},
		{"the message of a condition changes", func(status *modelv1.ModelStackStatus) { status.Conditions[0].Message = "other" }, true},
		{"the type of a condition changes", func(status *modelv1.ModelStackStatus) { status.Conditions[0].Type = "Other" }, false},
		{"the status of a condition changes", func(status *modelv1.ModelStackStatus) { status.Conditions[0].Status = metav1.ConditionTrue }, false},
		{"the reason of a condition changes", func(status *modelv1.ModelStackStatus) { status.Conditions[0].Reason = "Other" }, false},
		{"the generation of a condition changes", func(status *modelv1.ModelStackStatus) { status.Conditions[0].ObservedGeneration++ }, false},
		{"the generation of the status changes", func(status *modelv1.ModelStackStatus) { status.ObservedGeneration++ }, false},
		{"a condition is gone", func(status *modelv1.ModelStackStatus) { status.Conditions = nil }, false},
	} {
		t.Run(row.name, func(t *testing.T) {
			before := &modelv1.ModelStackStatus{ObservedGeneration: 2, Conditions: []metav1.Condition{
				{Type: modelv1.ConditionReady, Status: metav1.ConditionFalse, Reason: modelv1.ReasonProgressing, Message: "m", ObservedGeneration: 2},
			}}
			after := before.DeepCopy()
			row.change(after)
			check(t, "mere progress", row.want, isMereProgress(before, after))
		})
	}
}

func TestManyNamesAreCounted(t *testing.T) {
	names := []string{"a", "b", "c", "d", "e", "f", "g"}
	for count, want := range map[int]string{0: "", 1: "a", 5: "a, b, c, d, e", 6: "a, b, c, d, e and 1 more", 7: "a, b, c, d, e and 2 more"} {
		check(t, "names", want, someOf(names[:count]))
	}
}

// The controller does not watch every object that is in the way of a component.
func TestAStackWithAnObstacleIsLookedAtAgain(t *testing.T) {
	f := newTestController(t, newStack(boxComponent("db")))
	again := func() time.Duration {
		t.Helper()
		f.reconcile()
		after, err := f.Controller.ReconcileKey(t.Context(), shopKey)
		if err != nil {
			t.Fatal(err)
		}
		return after
	}
	f.settle()
	check(t, "a stack that is ready", time.Duration(0), again())
	f.changeBox("db", func(box *modelv1.ModelBox) {
		box.DeletionTimestamp, box.Finalizers = &metav1.Time{Time: time.Now()}, []string{metav1.FinalizerDeleteDependents}
	})
	check(t, "a stack whose box is being deleted", children.RecheckPeriod, again())
}

// leftOver are the components that are being deleted, with their messages.
func (f *testController) leftOver() [][2]string {
	f.t.Helper()
	var left [][2]string
	for _, component := range f.stack().Status.Components {
		if component.State == modelv1.ComponentTerminating {
			left = append(left, [2]string{component.Name, component.Message})
		}
	}
	return left
}

func TestComponentsThatAreTakenOutAreListedOnceByName(t *testing.T) {
	f := newTestController(t, newStack(outside("address", "192.0.2.1"), boxComponent("cache"), boxComponent("web", "address", "cache"), boxComponent("job", "cache")))
	f.settle()
	f.update(func(stack *modelv1.ModelStack) {
		stack.Spec.Components = []modelv1.ModelStackComponent{boxComponent("web"), boxComponent("job")}
	})
	f.reconcile()
	check(t, "while others use them", [][2]string{{"address", "waiting for web"}, {"cache", "waiting for job, web"}}, f.leftOver())
	for _, name := range []string{"web", "job"} {
		f.setReady(name)
	}
	f.reconcile()
	check(t, "when no other uses them", [][2]string{{"address", "Service address is being deleted"}, {"cache", "ModelBox cache is being deleted"}}, f.leftOver())
	f.reconcile()
	check(t, "afterwards", [][2]string(nil), f.leftOver())
}

func TestStatusOfAStackThatIsBeingDeleted(t *testing.T) {
	f := newTestController(t, newStack(boxComponent("db"), boxComponent("web", "db"), boxComponent("job", "db"), outside("address", "192.0.2.1")))
	f.settle()
	f.beginDeletion()
	f.reconcile()
	check(t, "components", [][2]string{
		{"address", "Service address is being deleted"},
		{"db", "waiting for job, web"},
		{"job", "ModelBox job is being deleted"},
		{"web", "ModelBox web is being deleted"},
	}, f.leftOver())
	status := f.stack().Status
	check(t, "waiting for", "address, job, web", status.WaitingFor)
	check(t, "message", "4 components are left; deleting address, job, web", meta.FindStatusCondition(status.Conditions, modelv1.ConditionReady).Message)
	check(t, "observed generation", f.stack().Generation, status.ObservedGeneration)
	check(t, "number of ready components", int32(0), status.ReadyComponents)
}
