// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package modelbox

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation/field"
	clienttesting "k8s.io/client-go/testing"
	testingclock "k8s.io/utils/clock/testing"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
)

func TestOpponents(t *testing.T) {
	replicas, image := fieldpath.MakePathOrDie("spec", "replicas"), fieldpath.MakePathOrDie("spec", "image")
	probe, httpGet := fieldpath.MakePathOrDie("probe", "tcpSocket"), fieldpath.MakePathOrDie("probe", "httpGet")
	at := func(hour int, entry metav1.ManagedFieldsEntry) metav1.ManagedFieldsEntry {
		entry.Time = ptr.To(metav1.Date(2026, time.January, 1, hour, 0, 0, 0, time.UTC))
		return entry
	}
	entry := func(manager string, fields ...fieldpath.Path) metav1.ManagedFieldsEntry {
		return managedBy(t, liveDeployment(t), manager, metav1.ManagedFieldsOperationUpdate, fieldpath.NewSet(fields...))
	}
	for _, row := range []struct {
		name        string
		entries     []metav1.ManagedFieldsEntry
		fields      *fieldpath.Set
		conflicting *fieldpath.Set
		want        map[string][]string
	}{
		{"nobody, when nothing is known", nil, fieldpath.NewSet(replicas), noFields(), map[string][]string{"": {".spec.replicas"}}},
		{"who set the field", []metav1.ManagedFieldsEntry{entry("kubectl", replicas)}, fieldpath.NewSet(replicas), noFields(),
			map[string][]string{"kubectl": {".spec.replicas"}}},
		{"each of several for what they set", []metav1.ManagedFieldsEntry{entry("kubectl", replicas), entry("helm", image)},
			fieldpath.NewSet(replicas, image), noFields(), map[string][]string{"kubectl": {".spec.replicas"}, "helm": {".spec.image"}}},
		{"not the controller itself", []metav1.ManagedFieldsEntry{entry("modelbox-apiserver", replicas)}, fieldpath.NewSet(replicas), noFields(),
			map[string][]string{"": {".spec.replicas"}}},
		{"the last one of several", []metav1.ManagedFieldsEntry{at(1, entry("first", replicas)), at(3, entry("last", replicas)), at(2, entry("second", replicas))},
			fieldpath.NewSet(replicas), noFields(), map[string][]string{"last": {".spec.replicas"}}},
		{"who set what is in the way", []metav1.ManagedFieldsEntry{entry("kubectl", httpGet)}, fieldpath.NewSet(probe, replicas), fieldpath.NewSet(httpGet),
			map[string][]string{"kubectl": {".probe.tcpSocket"}, "": {".spec.replicas"}}},
		{"nobody whose fields cannot be read", []metav1.ManagedFieldsEntry{{Manager: "broken", FieldsV1: metav1.NewFieldsV1("{")}, {Manager: "empty"}},
			fieldpath.NewSet(replicas), noFields(), map[string][]string{"": {".spec.replicas"}}},
	} {
		t.Run(row.name, func(t *testing.T) {
			got := map[string][]string{}
			for manager, fields := range opponents(&metav1.ObjectMeta{ManagedFields: row.entries}, row.fields, row.conflicting) {
				got[manager] = namesOf(fields)
			}
			if diff := cmp.Diff(row.want, got); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

func TestClaim(t *testing.T) {
	rendered := renderedKind(t, webBox(t), "Deployment")
	replicas, paused := fieldpath.MakePathOrDie("spec", "replicas"), fieldpath.MakePathOrDie("spec", "paused")
	note := fieldpath.MakePathOrDie("metadata", "annotations", "note")
	const apply, update = metav1.ManagedFieldsOperationApply, metav1.ManagedFieldsOperationUpdate
	type owner struct {
		manager   string
		operation metav1.ManagedFieldsOperationType
		fields    []fieldpath.Path
	}
	ours := func(fields ...fieldpath.Path) owner { return owner{"modelbox-apiserver", apply, fields} }
	for _, row := range []struct {
		name           string
		before         []owner
		own, exclusive *fieldpath.Set
		want           map[string][]string
		isChanged      bool
	}{
		{"what is ours stays so", []owner{ours(replicas)}, fieldpath.NewSet(replicas), noFields(),
			map[string][]string{"modelbox-apiserver": {".spec.replicas"}}, false},
		{"what an updater shares becomes ours alone", []owner{ours(replicas), {"kubectl", update, []fieldpath.Path{replicas, note}}},
			fieldpath.NewSet(replicas), noFields(),
			map[string][]string{"modelbox-apiserver": {".spec.replicas"}, "kubectl": {".metadata.annotations.note"}}, true},
		{"what an applier shares stays shared", []owner{ours(replicas), {"helm", apply, []fieldpath.Path{replicas}}},
			fieldpath.NewSet(replicas), noFields(),
			map[string][]string{"modelbox-apiserver": {".spec.replicas"}, "helm": {".spec.replicas"}}, false},
		{"what is claimed from an applier goes from it", []owner{ours(replicas), {"helm", apply, []fieldpath.Path{paused}}},
			noFields(), fieldpath.NewSet(paused), map[string][]string{"modelbox-apiserver": {".spec.paused", ".spec.replicas"}}, true},
		{"what nobody has becomes ours", nil, fieldpath.NewSet(replicas), noFields(),
			map[string][]string{"modelbox-apiserver": {".spec.replicas"}}, true},
		{"what the API made up goes", []owner{ours(replicas), {beforeFirstApply, update, []fieldpath.Path{note}}},
			fieldpath.NewSet(replicas), noFields(), map[string][]string{"modelbox-apiserver": {".spec.replicas"}}, true},
	} {
		t.Run(row.name, func(t *testing.T) {
			live := liveDeployment(t, func(d *appsv1.Deployment) { d.ManagedFields = nil })
			for _, owner := range row.before {
				live.ManagedFields = append(live.ManagedFields, managedBy(t, live, owner.manager, owner.operation, fieldpath.NewSet(owner.fields...)))
			}
			claimed, isChanged, err := newComparer().claim(live, rendered, row.own, row.exclusive)
			if err != nil {
				t.Fatal(err)
			}
			got := map[string][]string{}
			for i := range claimed {
				fields, err := fieldsOf(&claimed[i])
				if err != nil {
					t.Fatal(err)
				}
				got[claimed[i].Manager] = slices.Sorted(slices.Values(namesOf(fields)))
			}
			check(t, "fields", row.want, got)
			check(t, "is changed", row.isChanged, isChanged)
		})
	}
}

// What the cache keeps of managed fields tells the same as they do.
func TestCachedFingerprint(t *testing.T) {
	box := webBox(t)
	live := liveDeployment(t)
	setHash(t, box, live)
	before := fingerprint(live)
	cached, err := trimForCache(live)
	if err != nil {
		t.Fatal(err)
	}
	expected, err := newComparer().ownedFingerprint(renderedKind(t, box, "Deployment"))
	if err != nil {
		t.Fatal(err)
	}
	check(t, "fingerprint", before, expected)
	check(t, "fingerprint in the cache", before, fingerprint(cached.(child)))
}

func TestFieldsThatSomebodyTookOverAreReclaimed(t *testing.T) {
	f := newFixture(t, webBox(t))
	f.converge(t)
	owned := f.deployment(t).ManagedFields
	f.changeDeployment(t, "somebody", func(d *appsv1.Deployment) { mainOf(d).Image = "nginx:2" })
	f.changeDeployment(t, "somebody", func(d *appsv1.Deployment) { mainOf(d).Image = "nginx:1.7.9" })
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
func TestAPausedBoxReclaimsFieldsAndSaysNothing(t *testing.T) {
	f := newFixture(t, webBox(t))
	f.converge(t)
	f.update(t, func(box *modelv1.ModelBox) {
		box.Spec.Paused = true
		box.Generation++
	})
	f.changeDeployment(t, "somebody", func(d *appsv1.Deployment) { mainOf(d).Image = "nginx:2" })
	f.changeDeployment(t, "somebody", func(d *appsv1.Deployment) { mainOf(d).Image = "nginx:1.7.9" })
	f.catchUp(t)
	f.mustReconcile(t)
	check(t, "requests", []string{"patch deployments web", "patch deployments web", "update modelboxes/status web"}, f.requests())
	check(t, "applied", "True Applied", f.status(t).applied)
	check(t, "events", []string(nil), f.told())
}

// Its controller writes to a child as soon as it is applied.
func TestSharedFieldsBecomeOursAloneAlthoughTheChildIsWrittenTo(t *testing.T) {
	f := newFixture(t, webBox(t))
	f.converge(t)
	f.changeDeployment(t, "somebody", func(d *appsv1.Deployment) { mainOf(d).Image = "nginx:2" })
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
		if entry := &f.deployment(t).ManagedFields[i]; entry.Manager == "somebody" {
			fields, err := fieldsOf(entry)
			if err != nil {
				t.Fatal(err)
			}
			image = fields.Leaves()
		}
	}
	check(t, "fields of somebody", []string(nil), namesOf(image))
}

func TestAFightIsOverOneField(t *testing.T) {
	f := newFixture(t, webBox(t))
	clock := testingclock.NewFakePassiveClock(time.Now())
	f.fights = newFightRecord(clock)
	f.converge(t)
	for range maxRestores {
		f.scaleBySomebody(t)
		f.mustReconcile(t)
	}
	f.scaleBySomebody(t)
	f.mustReconcile(t)
	f.catchUp(t)
	f.told()

	f.changeDeployment(t, "kubectl-edit", func(d *appsv1.Deployment) { mainOf(d).Image = "nginx:2" })
	f.catchUp(t)
	check(t, "look again after", firstPause, f.mustReconcile(t))
	check(t, "requests", []string{"get deployments web", "patch deployments web"}, f.requests())
	check(t, "events", []string{"Warning RestoredDeployment Restored Deployment web: kubectl-edit had changed " + app[1:] + ".image"}, f.told())
	deployment := f.deployment(t)
	check(t, "image", "nginx:1.7.9", mainOf(deployment).Image)
	check(t, "replicas, which are fought over", ptr.To[int32](7), deployment.Spec.Replicas)
	check(t, "applied", "False Conflict", f.status(t).applied)
}

// Only what was taken back can be changed again.
func TestARestoreThatFailsIsNoFight(t *testing.T) {
	f := newFixture(t, webBox(t))
	f.converge(t)
	f.scaleBySomebody(t)
	f.cluster.PrependReactor("patch", "deployments", func(clienttesting.Action) (bool, runtime.Object, error) {
		return true, nil, apierrors.NewServiceUnavailable("later")
	})
	for range 2 * maxRestores {
		if _, err := f.reconcile(t.Context(), webKey); !apierrors.IsServiceUnavailable(err) {
			t.Fatalf("got error %v, want the one of the cluster", err)
		}
	}
	check(t, "fields fought over", 0, len(f.fights.fields))
}

// The cluster drops a field, as it does when the feature is off.
func TestAFieldThatTheClusterDropsIsSaidAndNotRestored(t *testing.T) {
	f := newFixture(t, webBox(t))
	f.cluster.PrependReactor("patch", "deployments", func(action clienttesting.Action) (bool, runtime.Object, error) {
		patch := action.(clienttesting.PatchActionImpl)
		patch.Patch = []byte(strings.Replace(string(patch.Patch), `"minReadySeconds":3,`, "", 1))
		return clienttesting.ObjectReaction(f.cluster.Tracker())(patch)
	})
	f.mustReconcile(t)
	check(t, "applied", "False Rejected", f.status(t).applied)
	check(t, "stalled", "True Rejected", f.status(t).stalled)
	const message = "Warning Rejected Deployment web: this cluster does not take what the box says about spec.minReadySeconds: " +
		"the field belongs to a feature that is off, or a policy changes it"
	if events := f.told(); !slices.Contains(events, message) {
		t.Errorf("nobody is told: %q", events)
	}
	f.catchUp(t)
	f.mustReconcile(t)
	check(t, "requests of the second time", []string(nil), f.requests())

	// The next process does not know, and finds out without telling of a change that nobody made.
	f.applied = newAppliedRecord()
	f.told()
	f.mustReconcile(t)
	check(t, "requests of the next process", []string{"get deployments web", "patch deployments web"}, f.requests())
	check(t, "events of the next process", []string(nil), f.told())

	// What somebody changes besides is taken back all the same.
	f.changeDeployment(t, "kubectl-edit", func(d *appsv1.Deployment) { mainOf(d).Image = "nginx:2" })
	f.catchUp(t)
	f.mustReconcile(t)
	check(t, "image", "nginx:1.7.9", mainOf(f.deployment(t)).Image)
}

// The API finds a field of somebody else's invalid beside one of the box.
func TestWhatMakesARestoreInvalidIsTakenOut(t *testing.T) {
	f := newFixture(t, webBox(t))
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
	check(t, "somebody's label", "shop", deployment.Labels["team"])
}

// What is there twice has no place among the fields of an object, and is in the way of nothing.
func TestAnElementThatIsThereTwiceIsRestoredBesideASwitchedUnion(t *testing.T) {
	f := newFixture(t, webBox(t))
	f.converge(t)
	live := f.deployment(t)
	main := mainOf(live)
	main.Env = append(main.Env, corev1.EnvVar{Name: "FIRST", Value: "evil"})
	main.ReadinessProbe.ProbeHandler = corev1.ProbeHandler{Exec: &corev1.ExecAction{Command: []string{"evil"}}}
	live.ManagedFields = append(live.ManagedFields, managedBy(t, live, "kubectl-edit", metav1.ManagedFieldsOperationUpdate,
		fieldpath.NewSet(fieldpath.MakePathOrDie("spec", "template", "spec", "containers", fieldpath.KeyByFields("name", "app"), "readinessProbe", "exec"))))
	rendered := renderedKind(t, webBox(t), "Deployment")
	found, err := f.compare.compare(rendered, live)
	if err != nil {
		t.Fatal(err)
	}
	fields, err := f.compare.liveFields(live)
	if err != nil {
		t.Fatal(err)
	}
	claimed, isChanged, err := f.compare.claim(live, rendered, noFields(), below(fields, found.conflicting))
	if err != nil {
		t.Fatal(err)
	}
	check(t, "is changed", true, isChanged)
	for i := range claimed {
		owned, err := fieldsOf(&claimed[i])
		if err != nil {
			t.Fatal(err)
		}
		check(t, "the probe is ours", true, isOurs(&claimed[i]) && slices.Contains(namesOf(owned), "."+app[1:]+".readinessProbe.exec.command"))
	}
	if _, err := f.compare.foreign(live, rendered, noFields()); err != nil {
		t.Error(err)
	}
}

// changeDeployment lets a manager change the Deployment by an update.
func (f *fixture) changeDeployment(t *testing.T, manager string, change func(*appsv1.Deployment)) {
	t.Helper()
	deployment := f.deployment(t)
	change(deployment)
	if _, err := f.cluster.AppsV1().Deployments(webKey.Namespace).Update(t.Context(), deployment, metav1.UpdateOptions{FieldManager: manager}); err != nil {
		t.Fatal(err)
	}
}
