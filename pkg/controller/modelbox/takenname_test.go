// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package modelbox

import (
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	clienttesting "k8s.io/client-go/testing"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/children"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/fixture"
)

// The name of the box's Service is taken. The controller watches it until it is free, or until no box wants it.
func TestTakenNameIsWatchedForItsBox(t *testing.T) {
	for _, row := range []struct {
		name       string
		change     func(t *testing.T, f *testController, foreign *corev1.Service, changes *watch.RaceFreeFakeWatcher)
		isStopped  bool
		isEnqueued bool
	}{
		{name: "nothing happens", change: func(*testing.T, *testController, *corev1.Service, *watch.RaceFreeFakeWatcher) {}},
		{
			name: "the object goes",
			change: func(_ *testing.T, _ *testController, foreign *corev1.Service, changes *watch.RaceFreeFakeWatcher) {
				changes.Delete(foreign)
			},
			isStopped: true, isEnqueued: true,
		},
		{
			name: "the box has gone",
			change: func(_ *testing.T, f *testController, _ *corev1.Service, _ *watch.RaceFreeFakeWatcher) {
				f.boxCache.Replace(nil, "")
			},
			isStopped: true,
		},
		{
			name: "the box is going",
			change: func(t *testing.T, f *testController, _ *corev1.Service, _ *watch.RaceFreeFakeWatcher) {
				f.boxCache.Update(fixture.WebBox(t, func(box *modelv1.ModelBox) { box.DeletionTimestamp = &metav1.Time{Time: time.Now()} }))
			},
			isStopped: true,
		},
		{
			name: "the box no longer specifies a Service",
			change: func(t *testing.T, f *testController, _ *corev1.Service, _ *watch.RaceFreeFakeWatcher) {
				f.update(t, func(box *modelv1.ModelBox) { box.Spec.Ports = nil })
				f.catchUp(t)
			},
			isStopped: true,
		},
	} {
		t.Run(row.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				foreign := &corev1.Service{ObjectMeta: metav1.ObjectMeta{Name: "web", Namespace: fixture.WebKey.Namespace, UID: "foreign"}}
				f := newTestController(t, fixture.WebBox(t), foreign)
				changes := watch.NewRaceFreeFake()
				f.cluster.PrependWatchReactor("services", func(clienttesting.Action) (bool, watch.Interface, error) { return true, changes, nil })
				defer f.Queue.ShutDown()
				defer f.children.Wait()
				defer f.children.Forget(fixture.WebKey)
				check(t, "requeue after", children.RecheckPeriod, f.mustReconcile(t))
				synctest.Wait()

				row.change(t, f, foreign, changes)
				synctest.Wait()
				check(t, "the box is enqueued", row.isEnqueued, f.Queue.Len() > 0)
				f.mustReconcile(t)
				synctest.Wait()
				check(t, "the watch is over", row.isStopped, changes.IsStopped())
			})
		})
	}
}
