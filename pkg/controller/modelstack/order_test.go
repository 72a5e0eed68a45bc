// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package modelstack

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/helper"
	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
)

func TestComponentsStartWhenWhatTheyDependOnIsReady(t *testing.T) {
	f := newTestController(t, newStack(boxComponent("web", "api"), boxComponent("api", "db", "mail"), boxComponent("db"), outside("mail", "mail.example.com")))
	check(t, "the finalizer comes before the children", []string{"patch modelstacks shop"}, f.reconcile())
	check(t, "first writes", []string{"patch modelboxes db", "patch services mail"}, f.reconcile())
	f.reconcile()
	check(t, "states", "web=Waiting(api) api=Waiting(db) db=Progressing mail=Ready", f.states())
	check(t, "waiting for", "db", f.stack().Status.WaitingFor)
	check(t, "writes while db is not ready", []string(nil), f.reconcile())

	f.setReady("db")
	check(t, "writes when db is ready", []string{"patch modelboxes api"}, f.reconcile())
	f.setReady("api")
	check(t, "writes when api is ready", []string{"patch modelboxes web"}, f.reconcile())
	f.setReady("web")
	f.reconcile()
	check(t, "states", "web=Ready api=Ready db=Ready mail=Ready", f.states())
	check(t, "ready", "True Ready", f.condition(modelv1.ConditionReady))
	check(t, "story", []string{
		"Normal CreatedModelBox Created ModelBox db",
		"Normal CreatedService Created Service mail",
		"Normal ComponentReady Component db is ready",
		"Normal CreatedModelBox Created ModelBox api",
		"Normal ComponentReady Component api is ready",
		"Normal CreatedModelBox Created ModelBox web",
		"Normal ComponentReady Component web is ready",
		"Normal StackReady 4 of 4 components are ready",
	}, f.told())
}

func TestComponentsWithoutAPathBetweenThemStartAtOnce(t *testing.T) {
	f := newTestController(t, newStack(boxComponent("a"), boxComponent("b"), boxComponent("c"), boxComponent("d", "a")))
	f.reconcile()
	check(t, "writes", []string{"patch modelboxes a", "patch modelboxes b", "patch modelboxes c"}, f.reconcile())
}

func TestNothingIsCreatedThatDependsOnWhatFails(t *testing.T) {
	for _, row := range []struct {
		name   string
		change func(*testController)
		want   string
	}{
		{"a box that fails", func(f *testController) { f.fail("db") }, "db=Progressing web=Waiting(db)"},
		{"a box that is ready no more", func(f *testController) { f.setReady("db"); f.fail("db") }, "db=Progressing web=Waiting(db)"},
		{"a box whose status is about an earlier generation", func(f *testController) { f.setReady("db"); f.setUpdating("db") }, "db=Progressing web=Waiting(db)"},
		{"a box that is being deleted", func(f *testController) {
			f.setReady("db")
			f.changeBox("db", func(box *modelv1.ModelBox) {
				box.DeletionTimestamp, box.Finalizers = &metav1.Time{Time: time.Now()}, []string{metav1.FinalizerDeleteDependents}
			})
		}, "db=Progressing web=Waiting(db)"},
		{"a box that has stalled", func(f *testController) {
			f.fail("db")
			f.setCondition("db", modelv1.ConditionStalled, metav1.ConditionTrue, modelv1.ReasonProgressDeadlineExceeded)
		}, "db=Stalled web=Waiting(db)"},
	} {
		t.Run(row.name, func(t *testing.T) {
			f := newTestController(t, newStack(boxComponent("db"), boxComponent("web", "db")))
			f.reconcile()
			f.reconcile()
			row.change(f)
			for range 3 {
				check(t, "writes", []string(nil), f.reconcile())
			}
			check(t, "boxes", []string{"db"}, f.boxes())
			check(t, "states", row.want, f.states())
		})
	}
}

func TestAComponentThatNeverGetsReadyStalls(t *testing.T) {
	f := newTestController(t, newStack(boxComponent("db"), boxComponent("web", "db")))
	f.reconcile()
	f.reconcile()
	f.fail("db")
	f.reconcile()
	check(t, "stalled at first", "none", f.condition(modelv1.ConditionStalled))
	again, err := f.Controller.ReconcileKey(t.Context(), shopKey)
	if err != nil || again <= 0 || again > helper.DefaultProgressDeadline {
		t.Errorf("it is looked at again after %s, %v", again, err)
	}
	f.clock.SetTime(f.clock.Now().Add(helper.DefaultProgressDeadline))
	f.reconcile()
	check(t, "stalled", "True ComponentStalled", f.condition(modelv1.ConditionStalled))
	check(t, "ready", "False ComponentStalled", f.condition(modelv1.ConditionReady))
	check(t, "progressing", "False ComponentStalled", f.condition(modelv1.ConditionProgressing))
	check(t, "states", "db=Stalled web=Waiting(db)", f.states())
	component := f.stack().Status.Components[0]
	check(t, "reason", modelv1.ReasonProgressDeadlineExceeded, component.Reason)
	check(t, "message", "no progress for 10m0s: CrashLoopBackOff: m", component.Message)

	f.setReady("db")
	f.reconcile()
	check(t, "stalled after it recovered", "none", f.condition(modelv1.ConditionStalled))
	check(t, "boxes", []string{"db", "web"}, f.boxes())
}

func TestADependencyThatFlapsLeavesAloneWhatDoesNotChange(t *testing.T) {
	f := newTestController(t, newStack(boxComponent("db"), boxComponent("web", "db")))
	f.settle()
	for range 3 {
		f.fail("db")
		check(t, "writes while db fails", []string(nil), f.reconcile())
		f.setReady("db")
		check(t, "writes when it is back", []string(nil), f.reconcile())
	}
	f.fail("db")
	f.update(func(stack *modelv1.ModelStack) { stack.Spec.Components[1].Box.Image = "web:2" })
	check(t, "an update of what depends on it, while it fails", []string(nil), f.reconcile())
	check(t, "states", "db=Progressing web=Waiting(db)", f.states())
	f.setReady("db")
	check(t, "when it is back", []string{"patch modelboxes web"}, f.reconcile())
}

// A spec that was ready once says nothing of the pods that come after another one.
func TestADependencyThatIsTakenBackIsWaitedFor(t *testing.T) {
	f := newTestController(t, newStack(boxComponent("db"), boxComponent("backend", "db"), boxComponent("web", "backend")))
	f.settle()
	f.update(func(stack *modelv1.ModelStack) {
		stack.Spec.Components[0].Box.Image, stack.Spec.Components[1].Box.Image = "db:bad", "backend:2"
	})
	check(t, "first", []string{"patch modelboxes db"}, f.reconcile())
	f.setUpdating("db")
	f.fail("db")
	f.reconcile()
	check(t, "states", "db=Progressing backend=Waiting(db) web=Ready", f.states())

	f.update(func(stack *modelv1.ModelStack) { stack.Spec.Components[0].Box.Image = "db:1" })
	check(t, "when db is taken back", []string{"patch modelboxes db"}, f.reconcile())
	f.setUpdating("db")
	check(t, "while db comes back", []string(nil), f.reconcile())
	f.reconcile()
	check(t, "states", "db=Progressing backend=Waiting(db) web=Ready", f.states())
	check(t, "waiting for", "db", f.stack().Status.WaitingFor)
	f.setReady("db")
	check(t, "when db is ready", []string{"patch modelboxes backend"}, f.reconcile())
}

func TestAChangedComponentWaitsForThoseThatItDependsOn(t *testing.T) {
	change := func(stack *modelv1.ModelStack) {
		stack.Spec.Components[0].Box.Image, stack.Spec.Components[2].Box.Image = "db:2", "web:2"
	}
	t.Run("Ordered", func(t *testing.T) {
		f := newTestController(t, newStack(boxComponent("db"), boxComponent("api", "db"), boxComponent("web", "api")))
		f.settle()
		f.update(change)
		check(t, "first", []string{"patch modelboxes db"}, f.reconcile())
		f.setUpdating("db")
		check(t, "while db is updated", []string(nil), f.reconcile())
		f.reconcile()
		check(t, "states", "db=Progressing api=Ready web=Waiting(db)", f.states())
		check(t, "applied", "False Waiting", f.condition(modelv1.ConditionApplied))
		f.setReady("db")
		check(t, "then", []string{"patch modelboxes web"}, f.reconcile())
	})
	t.Run("Parallel", func(t *testing.T) {
		stack := newStack(boxComponent("db"), boxComponent("api", "db"), boxComponent("web", "api"))
		stack.Spec.Rollout = modelv1.ComponentsParallel
		f := newTestController(t, stack)
		f.settle()
		f.update(change)
		check(t, "at once", []string{"patch modelboxes db", "patch modelboxes web"}, f.reconcile())
	})
}

func TestAComponentThatIsTakenOutGoesAfterItsUsersWereUpdated(t *testing.T) {
	f := newTestController(t, newStack(boxComponent("db"), boxComponent("cache"), boxComponent("web", "db", "cache")))
	f.settle()
	f.update(func(stack *modelv1.ModelStack) {
		stack.Spec.Components = []modelv1.ModelStackComponent{boxComponent("db"), boxComponent("web", "db")}
	})
	check(t, "first", []string{"patch modelboxes web"}, f.reconcile())
	check(t, "states", "db=Ready web=Progressing cache=Terminating(web)", f.states())
	f.setUpdating("web")
	check(t, "while its user is updated", []string(nil), f.reconcile())
	f.setReady("web")
	check(t, "then", []string{"delete modelboxes cache"}, f.reconcile())
	f.reconcile()
	check(t, "states", "db=Ready web=Ready", f.states())
	check(t, "ready", "True Ready", f.condition(modelv1.ConditionReady))
}

// A component whose box gets another name keeps its former box until the new one and the components that depend on it are ready.
func TestARenamedBoxGoesWhenTheNewOneIsUsed(t *testing.T) {
	f := newTestController(t, newStack(boxComponent("db"), boxComponent("web", "db")))
	f.settle()
	f.update(func(stack *modelv1.ModelStack) {
		stack.Spec.Components[0].BoxName = "postgres"
		stack.Spec.Components[1].Box.Image = "web:2"
	})
	check(t, "first", []string{"patch modelboxes postgres"}, f.reconcile())
	check(t, "while the new box is not ready", []string(nil), f.reconcile())
	check(t, "boxes", []string{"db", "postgres", "web"}, f.boxes())
	f.setReady("postgres")
	check(t, "when it is", []string{"patch modelboxes web"}, f.reconcile())
	f.setUpdating("web")
	check(t, "while web is not updated", []string(nil), f.reconcile())
	check(t, "message", "ModelBox db is to be deleted", f.stack().Status.Components[0].Message)
	check(t, "boxes", []string{"db", "postgres", "web"}, f.boxes())
	f.changeBox("web", func(box *modelv1.ModelBox) {
		box.Status.ObservedGeneration = box.Generation
		box.Status.Rollout = &modelv1.ModelBoxRolloutStatus{Phase: modelv1.RolloutProgressing}
	})
	f.clock.SetTime(f.clock.Now().Add(2 * helper.DefaultProgressDeadline))
	check(t, "while a step of web takes longer than the deadline", []string(nil), f.reconcile())
	check(t, "states", "db=Progressing web=Progressing", f.states())
	f.setReady("web")
	check(t, "when web is updated", []string{"delete modelboxes db"}, f.reconcile())
}

func TestARenamedBoxGoesWhenTheNewOneIsReady(t *testing.T) {
	f := newTestController(t, newStack(boxComponent("db")))
	f.settle()
	f.update(func(stack *modelv1.ModelStack) { stack.Spec.Components[0].BoxName = "postgres" })
	check(t, "first", []string{"patch modelboxes postgres"}, f.reconcile())
	check(t, "while the new box is not ready", []string(nil), f.reconcile())
	f.setReady("postgres")
	check(t, "when it is", []string{"delete modelboxes db"}, f.reconcile())
}

func TestABoxThatIsBeingDeletedIsWaitedFor(t *testing.T) {
	f := newTestController(t, newStack(boxComponent("db"), boxComponent("web", "db")))
	f.settle()
	f.changeBox("db", func(box *modelv1.ModelBox) {
		box.DeletionTimestamp, box.Finalizers = &metav1.Time{Time: time.Now()}, []string{metav1.FinalizerDeleteDependents}
	})
	check(t, "writes", []string(nil), f.reconcile())
	check(t, "message", "ModelBox db is being deleted and will be created again when it is gone", f.stack().Status.Components[0].Message)
}

// An EndpointSlice that has to be replaced is changed in the order of all changes.
func TestAnotherKindOfAddressWaitsForItsDependencies(t *testing.T) {
	f := newTestController(t, newStack(boxComponent("db"), outside("mail", "192.0.2.1", "db")))
	f.settle()
	f.fail("db")
	f.update(func(stack *modelv1.ModelStack) { stack.Spec.Components[1].External.Host = "2001:db8::1" })
	check(t, "while db is not ready", []string(nil), f.reconcile())
	check(t, "states", "db=Progressing mail=Waiting(db)", f.states())
	f.setReady("db")
	check(t, "when it is", []string{"delete endpointslices mail", "patch endpointslices mail"}, f.reconcile())
}

func TestAnotherKindOfAddressWaitsForNothingInParallel(t *testing.T) {
	stack := newStack(boxComponent("db"), outside("mail", "192.0.2.1", "db"))
	stack.Spec.Rollout = modelv1.ComponentsParallel
	f := newTestController(t, stack)
	f.settle()
	f.fail("db")
	f.update(func(stack *modelv1.ModelStack) { stack.Spec.Components[1].External.Host = "2001:db8::1" })
	check(t, "while db is not ready", []string{"delete endpointslices mail", "patch endpointslices mail"}, f.reconcile())
}

// The nearest components that are not ready are named once, however many ways lead to them.
func TestTheNearestComponentsBelowAreWaitedFor(t *testing.T) {
	f := newTestController(t, newStack(boxComponent("db"), boxComponent("a", "db"), boxComponent("b", "db"), boxComponent("web", "a", "b")))
	f.settle()
	f.fail("db")
	f.update(func(stack *modelv1.ModelStack) { stack.Spec.Components[3].Box.Image = "web:2" })
	check(t, "writes", []string(nil), f.reconcile())
	check(t, "states", "db=Progressing a=Ready b=Ready web=Waiting(db)", f.states())
}
