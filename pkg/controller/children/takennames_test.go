// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package children

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
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/fixture"
)

// testTaken runs a test, in a time of its own, with an owner whose Secret's name is taken, and that has been reconciled once.
// The cluster does what onWatch says when the name begins to be watched, nothing where it is nil, and then sends what the
// test puts into changes.
func testTaken(t *testing.T, onWatch func(f *testEngine) error, test func(t *testing.T, f *testEngine, foreign *corev1.Secret, changes *watch.RaceFreeFakeWatcher)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		f := newTestEngine(t, newSettings(), foreignSecret())
		changes := watch.NewRaceFreeFake()
		f.cluster.PrependWatchReactor("secrets", func(action clienttesting.Action) (bool, watch.Interface, error) {
			fixture.Check(t, "fields", "metadata.name=settings-token", action.(clienttesting.WatchAction).GetWatchRestrictions().Fields.String())
			if onWatch != nil {
				return true, changes, onWatch(f)
			}
			return true, changes, nil
		})
		defer f.Wait()
		defer f.Forget(settingsKey)
		after, ok := RetryAfter(f.mustReconcile(t).Failures)
		fixture.Check(t, "retry after", RecheckPeriod, after)
		fixture.Check(t, "without backoff", true, ok)
		synctest.Wait() // The cluster may be changed only while no request is on its way.
		test(t, f, foreignSecret(), changes)
	})
}

// When the API server ends a watch, the name is no longer watched, and nothing else reports a change of an object that is used.
func TestOwnerIsEnqueuedAfterTheWatchOfATakenNameHasEnded(t *testing.T) {
	for _, row := range []struct {
		name   string
		change func(f *testEngine, changes *watch.RaceFreeFakeWatcher)
		want   bool
	}{
		{"nothing happens", func(*testEngine, *watch.RaceFreeFakeWatcher) {}, false},
		{"the API server ends the watch", func(_ *testEngine, changes *watch.RaceFreeFakeWatcher) { changes.Stop() }, true},
		{"the API server says that the watch fails", func(_ *testEngine, changes *watch.RaceFreeFakeWatcher) {
			changes.Error(&metav1.Status{Reason: metav1.StatusReasonExpired})
		}, true},
		{"the owner is gone or going", func(f *testEngine, _ *watch.RaceFreeFakeWatcher) { f.Forget(settingsKey) }, false},
	} {
		t.Run(row.name, func(t *testing.T) {
			testTaken(t, nil, func(t *testing.T, f *testEngine, _ *corev1.Secret, changes *watch.RaceFreeFakeWatcher) {
				row.change(f, changes)
				fixture.Check(t, "the owner is enqueued at once", false, f.isEnqueued())
				time.Sleep(RecheckPeriod)
				fixture.Check(t, "the owner is enqueued", row.want, f.isEnqueued())
			})
		})
	}
}

// isEnqueued returns whether the owner is in the queue once all goroutines are idle.
func (f *testEngine) isEnqueued() bool {
	synctest.Wait()
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.enqueued.Has(settingsKey)
}

func TestOwnerIsEnqueuedWhenATakenNameMayBeFree(t *testing.T) {
	for _, row := range []struct {
		name   string
		change func(changes *watch.RaceFreeFakeWatcher, foreign *corev1.Secret)
		want   bool
	}{
		{"nothing happens", func(*watch.RaceFreeFakeWatcher, *corev1.Secret) {}, false},
		{"the watch begins with what there is", func(changes *watch.RaceFreeFakeWatcher, foreign *corev1.Secret) { changes.Add(foreign) }, false},
		{"the object changes", func(changes *watch.RaceFreeFakeWatcher, foreign *corev1.Secret) {
			foreign.Data, foreign.ResourceVersion = map[string][]byte{"more": nil}, "2"
			changes.Modify(foreign)
		}, false},
		{"the object goes", func(changes *watch.RaceFreeFakeWatcher, foreign *corev1.Secret) { changes.Delete(foreign) }, true},
		{"another object goes", func(changes *watch.RaceFreeFakeWatcher, foreign *corev1.Secret) {
			foreign.Name = "mail"
			changes.Delete(foreign)
		}, false},
		{"the object is given to the owner", func(changes *watch.RaceFreeFakeWatcher, foreign *corev1.Secret) {
			foreign.OwnerReferences = []metav1.OwnerReference{{APIVersion: "v1", Kind: "ConfigMap", Name: "settings", UID: "settings-1"}}
			changes.Modify(foreign)
		}, true},
		{"the object gets a label", func(changes *watch.RaceFreeFakeWatcher, foreign *corev1.Secret) {
			foreign.Labels = map[string]string{"team": "shop"}
			changes.Modify(foreign)
		}, true},
		{"the object shows the record that Trim takes out of the cache", func(changes *watch.RaceFreeFakeWatcher, foreign *corev1.Secret) {
			foreign.Annotations = map[string]string{modelv1.RecordAnnotation: "of another owner"}
			changes.Modify(foreign)
		}, false},
		{"the object is about to go", func(changes *watch.RaceFreeFakeWatcher, foreign *corev1.Secret) {
			foreign.DeletionTimestamp = &metav1.Time{Time: time.Now()}
			changes.Modify(foreign)
		}, true},
		{"the API server ends the watch", func(changes *watch.RaceFreeFakeWatcher, _ *corev1.Secret) { changes.Stop() }, false},
		{"the API server says that the watch fails", func(changes *watch.RaceFreeFakeWatcher, _ *corev1.Secret) {
			changes.Error(&metav1.Status{Reason: metav1.StatusReasonExpired})
		}, false},
	} {
		t.Run(row.name, func(t *testing.T) {
			testTaken(t, nil, func(t *testing.T, f *testEngine, foreign *corev1.Secret, changes *watch.RaceFreeFakeWatcher) {
				synctest.Wait()
				row.change(changes, foreign.DeepCopy())
				fixture.Check(t, "the owner is enqueued", row.want, f.isEnqueued())
			})
		})
	}
}

// Between the look at the object and the watch there is a moment.
func TestOwnerIsEnqueuedWhenANameIsFreeBeforeItIsWatched(t *testing.T) {
	free := func(f *testEngine) error {
		return f.cluster.Tracker().Delete(corev1.SchemeGroupVersion.WithResource("secrets"), settingsKey.Namespace, "settings-token")
	}
	testTaken(t, free, func(t *testing.T, f *testEngine, _ *corev1.Secret, _ *watch.RaceFreeFakeWatcher) {
		fixture.Check(t, "the owner is enqueued", true, f.isEnqueued())
	})
}

func TestTakenNameIsWatchedOnce(t *testing.T) {
	testTaken(t, nil, func(t *testing.T, f *testEngine, _ *corev1.Secret, _ *watch.RaceFreeFakeWatcher) {
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
		fixture.Check(t, "watches", 1, watches)
	})
}

func TestWatchOfATakenNameEndsWithItsReason(t *testing.T) {
	for _, row := range []struct {
		name   string
		change func(t *testing.T, f *testEngine)
	}{
		{"the owner is gone or going", func(_ *testing.T, f *testEngine) { f.Forget(settingsKey) }},
		{"the owner no longer specifies such a child", func(t *testing.T, f *testEngine) {
			f.change(t, func(settings *corev1.ConfigMap) { settings.Data = nil })
			f.mustReconcile(t)
		}},
	} {
		t.Run(row.name, func(t *testing.T) {
			testTaken(t, nil, func(t *testing.T, f *testEngine, _ *corev1.Secret, changes *watch.RaceFreeFakeWatcher) {
				fixture.Check(t, "the owner is enqueued", false, f.isEnqueued())
				row.change(t, f)
				synctest.Wait()
				fixture.Check(t, "names that are watched", 0, f.taken.count)
				fixture.Check(t, "the watch is over", true, changes.IsStopped())
			})
		})
	}
}

func TestTakenNamesAreWatchedUpToALimit(t *testing.T) {
	testTaken(t, nil, func(t *testing.T, f *testEngine, foreign *corev1.Secret, _ *watch.RaceFreeFakeWatcher) {
		f.cluster.PrependWatchReactor("secrets", func(clienttesting.Action) (bool, watch.Interface, error) {
			return true, watch.NewRaceFreeFake(), nil
		})
		f.cluster.PrependReactor("get", "secrets", func(clienttesting.Action) (bool, runtime.Object, error) { return true, foreign.DeepCopy(), nil })
		secrets := f.Kinds[0]
		var owners []types.NamespacedName
		for i := range maxTakenNames + 10 {
			owner := types.NamespacedName{Namespace: settingsKey.Namespace, Name: fmt.Sprint(i)}
			owners = append(owners, owner)
			// The one of testTaken is watched as well.
			fixture.Check(t, "is watched", i < maxTakenNames-1, f.taken.watch(t.Context(), owner, secrets, foreign))
		}
		synctest.Wait()
		fixture.Check(t, "names that are watched", maxTakenNames, f.taken.count)
		for _, owner := range owners {
			f.taken.forget(owner)
		}
		synctest.Wait()
		fixture.Check(t, "names that are watched in the end", 1, f.taken.count)
	})
}
