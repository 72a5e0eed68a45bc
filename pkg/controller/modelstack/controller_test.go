// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package modelstack

import (
	"sync/atomic"
	"testing"
	"testing/synctest"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	clienttesting "k8s.io/client-go/testing"
	"k8s.io/utils/ptr"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/reconciler"
)

func TestStackOfAChild(t *testing.T) {
	f := newTestController(t, newStack(boxComponent("db")))
	meta := func(name string, owners ...metav1.OwnerReference) metav1.ObjectMeta {
		return metav1.ObjectMeta{Name: name, Namespace: shopKey.Namespace, Labels: map[string]string{modelv1.StackLabel: shopKey.Name}, OwnerReferences: owners}
	}
	owner := metav1.OwnerReference{APIVersion: "model.github.com/v1", Kind: "ModelStack", Name: shopKey.Name, UID: "shop-1", Controller: ptr.To(true)}
	for _, row := range []struct {
		name  string
		child metav1.Object
		want  types.NamespacedName
	}{
		{"a box of the stack", &modelv1.ModelBox{ObjectMeta: meta("db", owner)}, shopKey},
		{"a box without an owner", &modelv1.ModelBox{ObjectMeta: meta("db")}, types.NamespacedName{}},
		{"a record of the stack", &appsv1.ControllerRevision{ObjectMeta: meta("shop.modelstack.0", owner)}, shopKey},
		{"a record without an owner", &appsv1.ControllerRevision{ObjectMeta: meta("shop.modelstack.0")}, shopKey},
		{"another revision without an owner", &appsv1.ControllerRevision{ObjectMeta: meta("shop-0")}, types.NamespacedName{}},
	} {
		t.Run(row.name, func(t *testing.T) {
			stack, ok := f.stackOfChild(row.child)
			check(t, "stack", row.want, stack)
			check(t, "it is found", row.want != types.NamespacedName{}, ok)
		})
	}
}

func TestAStackWaitsForTheCacheOfItsChildren(t *testing.T) {
	f := newTestController(t, newStack(boxComponent("a"), boxComponent("b")))
	waits := func() bool {
		t.Helper()
		after, err := f.Controller.ReconcileKey(t.Context(), shopKey)
		if err != nil {
			t.Fatal(err)
		}
		return after == reconciler.StaleCacheRetry
	}
	boxes := f.kinds[1].Informer.GetIndexer()
	f.replaceAt(boxes, "1")
	check(t, "it waits before the first write", false, waits())
	check(t, "first writes", []string{"patch modelboxes a", "patch modelboxes b"}, f.writes())
	check(t, "it waits while the cache lacks a write", true, waits())
	f.catchUp()
	f.replaceAt(boxes, "2", boxes.List()...)
	check(t, "it waits when the cache has all writes", false, waits())
}

// The controller watches an object that has the name of a child until the stack is gone, and ends after its watches.
func TestATakenNameIsWatchedUntilTheStackIsGone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newTestController(t, newStack(boxComponent("db")))
		defer f.Queue.ShutDown()
		defer f.children.Wait()
		defer f.children.Forget(shopKey)
		changes := watch.NewRaceFreeFake()
		f.models.PrependWatchReactor("modelboxes", func(clienttesting.Action) (bool, watch.Interface, error) { return true, changes, nil })
		f.inCluster(&modelv1.ModelBox{ObjectMeta: metav1.ObjectMeta{Name: "db", Namespace: shopKey.Namespace, UID: "foreign"}})
		f.reconcile()
		var hasEnded atomic.Bool
		go func() {
			f.Wait()
			hasEnded.Store(true)
		}()
		synctest.Wait()
		check(t, "the watch is over while the stack is there", false, changes.IsStopped())
		check(t, "the controller has ended while the stack is there", false, hasEnded.Load())

		if err := f.models.ModelV1().ModelStacks(shopKey.Namespace).Delete(t.Context(), shopKey.Name, metav1.DeleteOptions{}); err != nil {
			t.Fatal(err)
		}
		f.catchUp()
		f.reconcile()
		synctest.Wait()
		check(t, "the watch is over", true, changes.IsStopped())
		check(t, "the controller has ended", true, hasEnded.Load())
	})
}
