// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package children

import (
	"testing"
	"testing/synctest"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	clienttesting "k8s.io/client-go/testing"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apply"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/fixture"
)

// reconcileHolding reconciles and returns the steps that were held back.
func (f *testEngine) reconcileHolding(t *testing.T, isHeld func(s *apply.Step) bool) []string {
	t.Helper()
	var held []string
	result, err := f.ReconcileHolding(t.Context(), f.settings, func(s *apply.Step) bool {
		if !isHeld(s) {
			return false
		}
		held = append(held, string(s.Operation)+" "+s.Name())
		return true
	})
	if err != nil {
		t.Fatal(err)
	}
	fixture.Check(t, "failures", []error(nil), result.Failures)
	return held
}

func holdAll(*apply.Step) bool { return true }

func TestStepsThatAreHeldAreNotTaken(t *testing.T) {
	for _, row := range []struct {
		name   string
		change func(*testing.T, *testEngine)
		want   []string
	}{
		{"nothing to do", func(*testing.T, *testEngine) {}, nil},
		{"an update", func(t *testing.T, f *testEngine) {
			f.change(t, func(settings *corev1.ConfigMap) { settings.Data["token"] = "changed" })
		}, []string{"Update settings-token"}},
		{"a restore", func(t *testing.T, f *testEngine) {
			f.changeSecret(t, "kubectl-edit", func(secret *corev1.Secret) { secret.Data["value"] = []byte("changed") })
		}, []string{"Restore settings-token"}},
		{"a replacement", func(t *testing.T, f *testEngine) {
			f.change(t, annotated(typeAnnotation, "example.com/other"))
		}, []string{"Replace settings-token"}},
		{"a prune and a creation", func(t *testing.T, f *testEngine) {
			f.change(t, func(settings *corev1.ConfigMap) { settings.Data = map[string]string{"key": "secret"} })
		}, []string{"Create settings-key", "Prune settings-token"}},
	} {
		t.Run(row.name, func(t *testing.T) {
			f := newTestEngine(t, newSettings())
			f.converge(t)
			row.change(t, f)
			f.catchUp(t)
			fixture.Check(t, "held", row.want, f.reconcileHolding(t, holdAll))
			fixture.Check(t, "requests", []string(nil), f.requests())
			fixture.Check(t, "events", []string(nil), f.told())
		})
	}
}

func TestStepsBesideOneThatIsHeldAreTaken(t *testing.T) {
	f := newTestEngine(t, newSettings(func(settings *corev1.ConfigMap) {
		settings.Data = map[string]string{"first": "1", "second": "2"}
	}))
	held := f.reconcileHolding(t, func(s *apply.Step) bool { return s.Name() == "settings-first" })
	fixture.Check(t, "held", []string{"Create settings-first"}, held)
	fixture.Check(t, "requests", []string{"get secrets settings-second", "patch secrets settings-second"}, f.requests())
	f.catchUp(t)
	fixture.Check(t, "held", []string(nil), f.reconcileHolding(t, func(*apply.Step) bool { return false }))
	fixture.Check(t, "requests", []string{"get secrets settings-first", "patch secrets settings-first"}, f.requests())
}

// If an object has the name of a child and the cache does not show it, the create step finds it.
func TestOwnerThatIsHeldBackForANameIsEnqueuedWhenItIsFree(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newTestEngine(t, newSettings(), foreignSecret())
		changes := watch.NewRaceFreeFake()
		f.cluster.PrependWatchReactor("secrets", func(clienttesting.Action) (bool, watch.Interface, error) { return true, changes, nil })
		defer f.Wait()
		defer f.Forget(settingsKey)
		held := f.reconcileHolding(t, func(s *apply.Step) bool { return s.Operation == apply.Refuse })
		fixture.Check(t, "held", []string{"Refuse settings-token"}, held)
		fixture.Check(t, "enqueued before", false, f.isEnqueued())
		changes.Delete(foreignSecret())
		fixture.Check(t, "enqueued after", true, f.isEnqueued())
	})
}

func TestPropagationOfADeletionIsThatOfTheKind(t *testing.T) {
	for _, row := range []struct{ kind, want metav1.DeletionPropagation }{
		{"", metav1.DeletePropagationBackground},
		{metav1.DeletePropagationForeground, metav1.DeletePropagationForeground},
	} {
		t.Run(string(row.want), func(t *testing.T) {
			f := newTestEngine(t, newSettings())
			f.Kinds[0].Propagation = row.kind
			f.converge(t)
			f.change(t, func(settings *corev1.ConfigMap) { settings.Data = nil })
			f.catchUp(t)
			f.mustReconcile(t)
			for _, action := range f.cluster.Actions() {
				fixture.Check(t, "propagation", row.want, *action.(clienttesting.DeleteActionImpl).DeleteOptions.PropagationPolicy)
			}
			fixture.Check(t, "requests", []string{"delete secrets settings-token"}, f.requests())
		})
	}
}

// Comparing every child with its render at every event would make an owner of many children expensive.
func TestAChildThatHasNotChangedIsNotComparedAgain(t *testing.T) {
	f := newTestEngine(t, newSettings())
	f.converge(t)
	stamp := func(version string) *corev1.Secret {
		cached, err := f.Kinds[0].cached(settingsKey.Namespace, "settings-token")
		if err != nil || cached == nil {
			t.Fatalf("got %v, %v", cached, err)
		}
		secret := cached.(*corev1.Secret)
		secret.ResourceVersion = version
		return secret
	}
	secret := stamp("1")
	f.mustReconcile(t)
	secret.Data["value"] = []byte("changed without a new version, which no API server does")
	if steps, _, err := f.Plan(f.settings); err != nil || steps[0].Operation != apply.Keep {
		t.Errorf("got %s, %v: it was compared", steps[0].Operation, err)
	}
	stamp("2")
	if steps, _, err := f.Plan(f.settings); err != nil || steps[0].Operation != apply.Restore {
		t.Errorf("got %s, %v: a change was overlooked", steps[0].Operation, err)
	}
}
