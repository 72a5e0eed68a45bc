// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package modelstack

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/children"
)

// beginDeletion marks the stack as the API server does, with these finalizers beside its own.
func (f *testController) beginDeletion(finalizers ...string) {
	f.t.Helper()
	f.update(func(stack *modelv1.ModelStack) {
		stack.DeletionTimestamp = &metav1.Time{Time: time.Now()}
		stack.Finalizers = append(stack.Finalizers, finalizers...)
	})
}

func TestStackIsDeletedInReverseOrder(t *testing.T) {
	f := newTestController(t, newStack(boxComponent("db"), boxComponent("api", "db"), boxComponent("web", "api"), outside("mail", "192.0.2.1"), boxComponent("job", "mail")))
	f.settle()
	f.beginDeletion()
	check(t, "first, in any order", []string{"delete modelboxes job", "delete modelboxes web"}, slices.Sorted(slices.Values(f.reconcile())))
	check(t, "ready", "False Deleting", f.condition(modelv1.ConditionReady))
	check(t, "then", []string{"delete modelboxes api", "delete services mail", "delete endpointslices mail"}, f.reconcile())
	check(t, "and then", []string{"delete modelboxes db"}, f.reconcile())
	check(t, "states", "db=Terminating", f.states())
	check(t, "at last", []string{"patch modelstacks shop"}, f.reconcile())
	check(t, "number of finalizers", 0, len(f.stack().Finalizers))
}

func TestUsersOf(t *testing.T) {
	box := func(name string, dependsOn ...string) children.Object {
		box := &modelv1.ModelBox{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{modelv1.ComponentLabel: name}}}
		if len(dependsOn) > 0 {
			box.Annotations = map[string]string{modelv1.DependsOnAnnotation: strings.Join(dependsOn, ",")}
		}
		return box
	}
	for _, row := range []struct {
		name  string
		stack *modelv1.ModelStack
		owned []children.Object
		want  map[string][]string
	}{
		{"what the stack says counts, and not what a child says", newStack(boxComponent("db"), boxComponent("web")), []children.Object{box("db"), box("web", "db")},
			map[string][]string{"db": {}, "web": {}}},
		{"a component that is no longer in the stack", newStack(boxComponent("db")), []children.Object{box("db"), box("web", "db")},
			map[string][]string{"db": {"web"}, "web": {}}},
		{"a component without children between two others", newStack(boxComponent("db"), boxComponent("api", "db"), boxComponent("web", "api")), []children.Object{box("db"), box("web")},
			map[string][]string{"db": {"web"}, "web": {}}},
		{"two ways to the same component", newStack(boxComponent("db"), boxComponent("a", "db"), boxComponent("b", "db"), boxComponent("web", "a", "b")), []children.Object{box("db"), box("web")},
			map[string][]string{"db": {"web"}, "web": {}}},
		{"children that need each other over a third one", newStack(boxComponent("other")), []children.Object{box("a", "b"), box("b", "c"), box("c", "a"), box("d", "a")},
			map[string][]string{"a": {"d"}, "b": {"d"}, "c": {"d"}, "d": {}}},
	} {
		t.Run(row.name, func(t *testing.T) {
			if diff := cmp.Diff(row.want, usersOf(row.stack, row.owned), cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

func TestStackThatNeverStartedIsDeleted(t *testing.T) {
	for _, row := range []struct {
		name  string
		start func(f *testController)
		want  [][]string
	}{
		{"before anything was created", func(f *testController) { f.reconcile() }, [][]string{{"patch modelstacks shop"}}},
		{"while the first of it fails", func(f *testController) { f.reconcile(); f.reconcile(); f.fail("db"); f.reconcile() },
			[][]string{{"delete modelboxes db"}, {"patch modelstacks shop"}}},
	} {
		t.Run(row.name, func(t *testing.T) {
			f := newTestController(t, newStack(boxComponent("db"), boxComponent("web", "db")))
			row.start(f)
			f.beginDeletion()
			for _, want := range row.want {
				check(t, "writes", want, f.reconcile())
			}
			check(t, "number of finalizers", 0, len(f.stack().Finalizers))
			check(t, "boxes", []string(nil), f.boxes())
		})
	}
}

func TestDeletionWaitsForABoxThatIsStillThere(t *testing.T) {
	f := newTestController(t, newStack(boxComponent("db"), boxComponent("web", "db")))
	f.settle()
	f.beginDeletion()
	f.changeBox("web", func(box *modelv1.ModelBox) {
		box.DeletionTimestamp, box.Finalizers = &metav1.Time{Time: time.Now()}, []string{metav1.FinalizerDeleteDependents}
	})
	check(t, "writes", []string(nil), f.reconcile())
	check(t, "states", "db=Terminating(web) web=Terminating", f.states())
}

func TestDeletionIsLeftToTheGarbageCollector(t *testing.T) {
	for _, row := range []struct {
		name   string
		stack  func(*modelv1.ModelStack)
		delete func(f *testController)
	}{
		{"of a stack whose components are to stay", func(*modelv1.ModelStack) {}, func(f *testController) { f.beginDeletion(metav1.FinalizerOrphanDependents) }},
		{"of a stack whose order does not count", func(stack *modelv1.ModelStack) { stack.Spec.Deletion = modelv1.ComponentsParallel }, func(f *testController) { f.beginDeletion() }},
	} {
		t.Run(row.name, func(t *testing.T) {
			stack := newStack(boxComponent("db"), boxComponent("web", "db"))
			row.stack(stack)
			f := newTestController(t, stack)
			f.settle()
			row.delete(f)
			check(t, "writes", []string(nil), f.reconcile())
		})
	}
}

func TestStackHasNoFinalizerWithoutNeed(t *testing.T) {
	for _, row := range []struct {
		name  string
		stack *modelv1.ModelStack
	}{
		{"components that do not depend on each other", newStack(boxComponent("db"), boxComponent("web"))},
		{"an order that does not count", func() *modelv1.ModelStack {
			stack := newStack(boxComponent("db"), boxComponent("web", "db"))
			stack.Spec.Deletion = modelv1.ComponentsParallel
			return stack
		}()},
	} {
		t.Run(row.name, func(t *testing.T) {
			f := newTestController(t, row.stack)
			f.settle()
			check(t, "number of finalizers", 0, len(f.stack().Finalizers))
		})
	}
}
