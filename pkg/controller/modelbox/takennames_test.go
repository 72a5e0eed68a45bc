// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package modelbox

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	clienttesting "k8s.io/client-go/testing"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
)

// testTaken runs a test, in a time of its own, with a box whose Service's name is taken, and that has been looked at once.
// The cluster does what onWatch says when the name begins to be watched, nothing where it is nil, and then sends what the
// test puts into changes.
func testTaken(t *testing.T, onWatch func(f *fixture) error, test func(t *testing.T, f *fixture, foreign *corev1.Service, changes *watch.RaceFreeFakeWatcher)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		foreign := &corev1.Service{ObjectMeta: metav1.ObjectMeta{Name: "web", Namespace: webKey.Namespace, UID: "foreign"}}
		f := newFixture(t, webBox(t), foreign)
		changes := watch.NewRaceFreeFake()
		f.cluster.PrependWatchReactor("services", func(action clienttesting.Action) (bool, watch.Interface, error) {
			check(t, "fields", "metadata.name=web", action.(clienttesting.WatchAction).GetWatchRestrictions().Fields.String())
			if onWatch != nil {
				return true, changes, onWatch(f)
			}
			return true, changes, nil
		})
		defer f.Controller.events.Shutdown()
		defer f.queue.ShutDown()
		defer f.taken.wait()
		defer f.taken.forget(webKey)
		check(t, "look again after", recheckPeriod, f.mustReconcile(t))
		test(t, f, foreign, changes)
	})
}

// awaitsTurn returns whether the box is in the queue once everybody has done what there is to do.
func (f *fixture) awaitsTurn() bool {
	synctest.Wait()
	return f.queue.Len() > 0
}

func TestABoxHasItsTurnWhenANameIsFree(t *testing.T) {
	for _, row := range []struct {
		name   string
		change func(changes *watch.RaceFreeFakeWatcher, foreign *corev1.Service)
		want   bool
	}{
		{"nothing happens", func(*watch.RaceFreeFakeWatcher, *corev1.Service) {}, false},
		{"the watch begins with what there is", func(changes *watch.RaceFreeFakeWatcher, foreign *corev1.Service) { changes.Add(foreign) }, false},
		{"the object changes", func(changes *watch.RaceFreeFakeWatcher, foreign *corev1.Service) {
			foreign.Spec.ClusterIP, foreign.ResourceVersion = "10.0.0.9", "2"
			changes.Modify(foreign)
		}, false},
		{"the object goes", func(changes *watch.RaceFreeFakeWatcher, foreign *corev1.Service) { changes.Delete(foreign) }, true},
		{"another object goes", func(changes *watch.RaceFreeFakeWatcher, foreign *corev1.Service) {
			foreign.Name = "mail"
			changes.Delete(foreign)
		}, false},
		{"the object is given to the box", func(changes *watch.RaceFreeFakeWatcher, foreign *corev1.Service) {
			foreign.OwnerReferences = []metav1.OwnerReference{{APIVersion: "model.github.com/v1", Kind: "ModelBox", Name: "web", UID: webUID}}
			changes.Modify(foreign)
		}, true},
		{"the object gets a label", func(changes *watch.RaceFreeFakeWatcher, foreign *corev1.Service) {
			foreign.Labels = map[string]string{modelv1.SelectorLabel: "web"}
			changes.Modify(foreign)
		}, true},
		{"the object is about to go", func(changes *watch.RaceFreeFakeWatcher, foreign *corev1.Service) {
			foreign.DeletionTimestamp = &metav1.Time{Time: time.Now()}
			changes.Modify(foreign)
		}, true},
		{"the API server ends the watch", func(changes *watch.RaceFreeFakeWatcher, _ *corev1.Service) { changes.Stop() }, false},
		{"the API server says that the watch fails", func(changes *watch.RaceFreeFakeWatcher, _ *corev1.Service) {
			changes.Error(&metav1.Status{Reason: metav1.StatusReasonExpired})
		}, false},
	} {
		t.Run(row.name, func(t *testing.T) {
			testTaken(t, nil, func(t *testing.T, f *fixture, foreign *corev1.Service, changes *watch.RaceFreeFakeWatcher) {
				synctest.Wait()
				row.change(changes, foreign.DeepCopy())
				check(t, "the box has its turn", row.want, f.awaitsTurn())
			})
		})
	}
}

// Between the look at the object and the watch there is a moment.
func TestANameThatIsFreeBeforeItIsWatched(t *testing.T) {
	free := func(f *fixture) error {
		return f.cluster.Tracker().Delete(corev1.SchemeGroupVersion.WithResource("services"), webKey.Namespace, webKey.Name)
	}
	testTaken(t, free, func(t *testing.T, f *fixture, _ *corev1.Service, _ *watch.RaceFreeFakeWatcher) {
		check(t, "the box has its turn", true, f.awaitsTurn())
	})
}

func TestATakenNameIsWatchedOnce(t *testing.T) {
	testTaken(t, nil, func(t *testing.T, f *fixture, _ *corev1.Service, _ *watch.RaceFreeFakeWatcher) {
		for range 3 {
			f.mustReconcile(t)
			synctest.Wait()
		}
		watches := 0
		for _, action := range f.cluster.Actions() {
			if action.GetVerb() == "watch" {
				watches++
			}
		}
		check(t, "watches", 1, watches)
	})
}

func TestAWatchEndsWithWhatItIsFor(t *testing.T) {
	for _, row := range []struct {
		name   string
		change func(t *testing.T, f *fixture)
	}{
		{"the box has gone", func(_ *testing.T, f *fixture) { f.boxCache.Replace(nil, "") }},
		{"the box is going", func(t *testing.T, f *fixture) {
			f.boxCache.Update(webBox(t, func(box *modelv1.ModelBox) { box.DeletionTimestamp = &metav1.Time{Time: time.Now()} }))
		}},
		{"the box wants no Service any more", func(t *testing.T, f *fixture) {
			f.update(t, func(box *modelv1.ModelBox) { box.Spec.Ports = nil })
			f.catchUp(t)
		}},
	} {
		t.Run(row.name, func(t *testing.T) {
			testTaken(t, nil, func(t *testing.T, f *fixture, _ *corev1.Service, changes *watch.RaceFreeFakeWatcher) {
				check(t, "the box has its turn", false, f.awaitsTurn())
				row.change(t, f)
				f.mustReconcile(t)
				synctest.Wait()
				check(t, "names that are watched", 0, f.taken.count)
				check(t, "the watch is over", true, changes.IsStopped())
			})
		})
	}
}

func TestOnlySoManyNamesAreWatched(t *testing.T) {
	testTaken(t, nil, func(t *testing.T, f *fixture, foreign *corev1.Service, _ *watch.RaceFreeFakeWatcher) {
		f.cluster.PrependWatchReactor("services", func(clienttesting.Action) (bool, watch.Interface, error) {
			return true, watch.NewRaceFreeFake(), nil
		})
		f.cluster.PrependReactor("get", "services", func(clienttesting.Action) (bool, runtime.Object, error) { return true, foreign.DeepCopy(), nil })
		services := f.kinds[1]
		var boxes []types.NamespacedName
		for i := range maxTakenNames + 10 {
			box := types.NamespacedName{Namespace: webKey.Namespace, Name: fmt.Sprint(i)}
			boxes = append(boxes, box)
			f.taken.watch(t.Context(), box, services, foreign)
		}
		synctest.Wait()
		check(t, "names that are watched", maxTakenNames, f.taken.count)
		for _, box := range boxes {
			f.taken.forget(box)
		}
		synctest.Wait()
		check(t, "names that are watched in the end", 1, f.taken.count)
	})
}
