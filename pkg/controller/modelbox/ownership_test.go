// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package modelbox

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation/field"
	clienttesting "k8s.io/client-go/testing"
	testingclock "k8s.io/utils/clock/testing"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/apply/fields"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/children"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/fixture"
)

func TestReconcileReclaimsFieldsThatOthersTookOver(t *testing.T) {
	f := newTestController(t, fixture.WebBox(t))
	f.converge(t)
	owned := f.deployment(t).ManagedFields
	f.changeDeployment(t, "kubectl-edit", func(d *appsv1.Deployment) { fixture.MainContainer(d).Image = "nginx:2" })
	f.changeDeployment(t, "kubectl-edit", func(d *appsv1.Deployment) { fixture.MainContainer(d).Image = "nginx:1.7.9" })
	f.catchUp(t)

	f.mustReconcile(t)
	check(t, "requests", []string{"get deployments web", "patch deployments web"}, f.requests())
	check(t, "events", []string(nil), f.told())
	check(t, "managed fields", managers(&metav1.ObjectMeta{ManagedFields: owned}), managers(f.deployment(t)))

	f.catchUp(t)
	f.mustReconcile(t)
	check(t, "requests of the second time", []string(nil), f.requests())
}

// Or what the box no longer says when the pause ends would stay.
func TestReconcileReclaimsFieldsOfAPausedBox(t *testing.T) {
	f := newTestController(t, fixture.WebBox(t))
	f.converge(t)
	f.update(t, func(box *modelv1.ModelBox) {
		box.Spec.Paused = true
		box.Generation++
	})
	f.changeDeployment(t, "kubectl-edit", func(d *appsv1.Deployment) { fixture.MainContainer(d).Image = "nginx:2" })
	f.changeDeployment(t, "kubectl-edit", func(d *appsv1.Deployment) { fixture.MainContainer(d).Image = "nginx:1.7.9" })
	f.catchUp(t)
	f.mustReconcile(t)
	check(t, "requests", []string{"patch deployments web", "patch deployments web", "update modelboxes/status web"}, f.requests())
	check(t, "applied", "True Applied", f.status(t).applied)
	check(t, "events", []string(nil), f.told())
}

// Its controller writes to a child as soon as it is applied.
func TestReconcileClaimsSharedFieldsDespiteConflictingWrites(t *testing.T) {
	f := newTestController(t, fixture.WebBox(t))
	f.converge(t)
	f.changeDeployment(t, "kubectl-edit", func(d *appsv1.Deployment) { fixture.MainContainer(d).Image = "nginx:2" })
	f.update(t, func(box *modelv1.ModelBox) { box.Spec.Image, box.Generation = "nginx:2", box.Generation+1 })
	f.catchUp(t)
	conflicts := 0
	f.cluster.PrependReactor("patch", "deployments", func(action clienttesting.Action) (bool, runtime.Object, error) {
		if action.(clienttesting.PatchAction).GetPatchType() != types.JSONPatchType || conflicts == 2 {
			return false, nil, nil
		}
		conflicts++
		return true, nil, apierrors.NewConflict(appsv1.Resource("deployments"), "web", errors.New("its status was written"))
	})
	f.mustReconcile(t)
	check(t, "conflicts", 2, conflicts)
	image := fieldpath.NewSet()
	for i := range f.deployment(t).ManagedFields {
		if entry := &f.deployment(t).ManagedFields[i]; entry.Manager == "kubectl-edit" {
			owned, err := fields.Decode(entry)
			if err != nil {
				t.Fatal(err)
			}
			image = owned.Leaves()
		}
	}
	check(t, "fields of kubectl-edit", []string(nil), fixture.Paths(image))
}

func TestConflictBacksOffFromAFieldThatIsChangedAgainAndAgain(t *testing.T) {
	f := newTestController(t, fixture.WebBox(t))
	clock := testingclock.NewFakePassiveClock(time.Now())
	f.Clock = clock
	f.restart()
	f.converge(t)
	for range children.MaxRestores {
		f.scaleByAnotherClient(t)
		f.mustReconcile(t)
		check(t, "requests", []string{"get deployments web", "patch deployments web"}, f.requests())
	}
	f.told()

	f.scaleByAnotherClient(t)
	check(t, "requeue after", children.FirstPause, f.mustReconcile(t))
	check(t, "requests", []string{"get deployments web", "update modelboxes/status web"}, f.requests())
	check(t, "applied", "False Conflict", f.status(t).applied)
	const message = "Deployment web: another-client keeps changing spec.replicas; back-off restoring what the box asks for"
	check(t, "events", []string{"Warning Conflict " + message}, f.told())

	f.catchUp(t)
	f.mustReconcile(t)
	check(t, "requests in the pause", []string(nil), f.requests())

	clock.SetTime(clock.Now().Add(children.FirstPause))
	f.mustReconcile(t)
	check(t, "requests after the pause", []string{"get deployments web", "patch deployments web", "update modelboxes/status web"}, f.requests())
	check(t, "applied", "True Applied", f.status(t).applied)
}

func TestConflictLeavesOtherFieldsRestored(t *testing.T) {
	f := newTestController(t, fixture.WebBox(t))
	clock := testingclock.NewFakePassiveClock(time.Now())
	f.Clock = clock
	f.restart()
	f.converge(t)
	for range children.MaxRestores {
		f.scaleByAnotherClient(t)
		f.mustReconcile(t)
	}
	f.scaleByAnotherClient(t)
	f.mustReconcile(t)
	f.catchUp(t)
	f.told()

	f.changeDeployment(t, "kubectl-edit", func(d *appsv1.Deployment) { fixture.MainContainer(d).Image = "nginx:2" })
	f.catchUp(t)
	check(t, "requeue after", children.FirstPause, f.mustReconcile(t))
	check(t, "requests", []string{"get deployments web", "patch deployments web"}, f.requests())
	check(t, "events", []string{"Warning RestoredDeployment Restored Deployment web: kubectl-edit had changed " + fixture.MainContainerPath[1:] + ".image"}, f.told())
	deployment := f.deployment(t)
	check(t, "image", "nginx:1.7.9", fixture.MainContainer(deployment).Image)
	check(t, "replicas, which are fought over", ptr.To[int32](7), deployment.Spec.Replicas)
	check(t, "applied", "False Conflict", f.status(t).applied)
}

// Only what was taken back can be changed again.
func TestRestoreThatFailsIsNoConflict(t *testing.T) {
	f := newTestController(t, fixture.WebBox(t))
	f.converge(t)
	f.scaleByAnotherClient(t)
	isAway := true
	f.cluster.PrependReactor("patch", "deployments", func(clienttesting.Action) (bool, runtime.Object, error) {
		return isAway, nil, apierrors.NewServiceUnavailable("later")
	})
	for range 2 * children.MaxRestores {
		if _, err := f.ReconcileKey(t.Context(), fixture.WebKey); !apierrors.IsServiceUnavailable(err) {
			t.Fatalf("got error %v, want the one of the cluster", err)
		}
	}
	isAway = false
	f.mustReconcile(t)
	check(t, "replicas once the cluster is back", ptr.To[int32](2), f.deployment(t).Spec.Replicas)
}

// The cluster drops a field, as it does when the feature is off.
func TestReconcileRejectsAFieldThatTheClusterDrops(t *testing.T) {
	f := newTestController(t, fixture.WebBox(t))
	f.cluster.PrependReactor("patch", "deployments", func(action clienttesting.Action) (bool, runtime.Object, error) {
		patch := action.(clienttesting.PatchActionImpl)
		patch.Patch = []byte(strings.Replace(string(patch.Patch), `"minReadySeconds":3,`, "", 1))
		return clienttesting.ObjectReaction(f.cluster.Tracker())(patch)
	})
	f.mustReconcile(t)
	check(t, "applied", "False Rejected", f.status(t).applied)
	check(t, "stalled", "True Rejected", f.status(t).stalled)
	const message = "Warning Rejected Deployment web: the cluster does not accept what the box asks for in spec.minReadySeconds: " +
		"its version does not know it, a feature gate is disabled, or an admission policy changes it"
	if events := f.told(); !slices.Contains(events, message) {
		t.Errorf("no event reports it: %q", events)
	}
	f.catchUp(t)
	f.mustReconcile(t)
	check(t, "requests of the second time", []string(nil), f.requests())

	// The next process does not know that, and finds it out without an event about a change that no manager made.
	f.restart()
	f.told()
	f.mustReconcile(t)
	check(t, "requests of the next process", []string{"get deployments web", "patch deployments web"}, f.requests())
	check(t, "events of the next process", []string(nil), f.told())

	// A change by another manager is taken back all the same.
	f.changeDeployment(t, "kubectl-edit", func(d *appsv1.Deployment) { fixture.MainContainer(d).Image = "nginx:2" })
	f.catchUp(t)
	f.mustReconcile(t)
	check(t, "image", "nginx:1.7.9", fixture.MainContainer(f.deployment(t)).Image)
}

// A stored box has a field that the cluster is too old for, and the cluster is upgraded.
func TestReconcileLeavesOutAFieldThatTheClusterDoesNotKnow(t *testing.T) {
	f := newTestController(t, fixture.WebBox(t))
	isOld := true
	f.kind("Deployment").Known = func(rendered *unstructured.Unstructured) *unstructured.Unstructured {
		if !isOld {
			return rendered
		}
		known := rendered.DeepCopy()
		unstructured.RemoveNestedField(known.Object, "spec", "minReadySeconds")
		return known
	}
	f.mustReconcile(t)
	check(t, "applied", "False Rejected", f.status(t).applied)
	check(t, "field of the Deployment", int32(0), f.deployment(t).Spec.MinReadySeconds)
	check(t, "image of the Deployment", "nginx:1.7.9", fixture.MainContainer(f.deployment(t)).Image)
	f.catchUp(t)
	f.requests()
	f.mustReconcile(t)
	check(t, "requests of the second time", []string(nil), f.requests())

	isOld = false
	f.mustReconcile(t)
	check(t, "field of the Deployment once the cluster knows it", int32(3), f.deployment(t).Spec.MinReadySeconds)
}

// The API finds a field of another manager invalid beside a field of the box.
func TestRestoreRemovesWhatMakesItInvalid(t *testing.T) {
	f := newTestController(t, fixture.WebBox(t))
	f.converge(t)
	f.changeDeployment(t, "kubectl-edit", func(d *appsv1.Deployment) {
		d.Spec.Template.Spec.ShareProcessNamespace = ptr.To(true)
		d.Spec.Template.Spec.TerminationGracePeriodSeconds = ptr.To[int64](1)
		d.Labels["team"] = "shop"
	})
	f.catchUp(t)
	path := field.NewPath("spec", "template", "spec", "shareProcessNamespace")
	isInvalid := true
	f.cluster.PrependReactor("patch", "deployments", func(clienttesting.Action) (bool, runtime.Object, error) {
		if !isInvalid {
			return false, nil, nil
		}
		isInvalid = false
		return true, nil, apierrors.NewInvalid(appsv1.SchemeGroupVersion.WithKind("Deployment").GroupKind(), "web",
			field.ErrorList{field.Invalid(path, true, "may not be set")})
	})
	f.mustReconcile(t)
	check(t, "requests", []string{
		"get deployments web", "patch deployments web", // the apply that is invalid
		"get deployments web", "patch deployments web", "patch deployments web",
	}, f.requests())
	deployment := f.deployment(t)
	check(t, "shareProcessNamespace", (*bool)(nil), deployment.Spec.Template.Spec.ShareProcessNamespace)
	check(t, "grace period", ptr.To[int64](40), deployment.Spec.Template.Spec.TerminationGracePeriodSeconds)
	check(t, "label of another manager", "shop", deployment.Labels["team"])
}

// changeDeployment lets a manager change the Deployment by an update.
func (f *testController) changeDeployment(t *testing.T, manager string, change func(*appsv1.Deployment)) {
	t.Helper()
	deployment := f.deployment(t)
	change(deployment)
	if _, err := f.cluster.AppsV1().Deployments(fixture.WebKey.Namespace).Update(t.Context(), deployment, metav1.UpdateOptions{FieldManager: manager}); err != nil {
		t.Fatal(err)
	}
}
