// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package modelbox

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/apply"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/children"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/fixture"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/modelbox/kinds"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/modelbox/rollouts"
	modelboxrender "github.com/sharelinuxs/modelbox-apiserver/pkg/render/modelbox"
)

// recorded is the box that the Deployment in the cluster has the record of.
func (f *testController) recorded(t *testing.T) *modelv1.ModelBox {
	t.Helper()
	box, err := modelboxrender.ReadRecord(f.deployment(t).Annotations[modelv1.RecordAnnotation])
	if err != nil {
		t.Fatal(err)
	}
	return box
}

// expectRecord checks that the record is the record of the box in the server, and that nothing is left to do.
func (f *testController) expectRecord(t *testing.T) {
	t.Helper()
	want, err := modelboxrender.Record(f.boxInServer(t))
	if err != nil {
		t.Fatal(err)
	}
	check(t, "record", want, f.deployment(t).Annotations[modelv1.RecordAnnotation])
	for range 2 { // fields that the record was written with may have to be reclaimed
		f.catchUp(t)
		f.mustReconcile(t)
	}
	f.catchUp(t)
	f.mustReconcile(t)
	check(t, "requests afterwards", []string(nil), f.requests())
}

func changesRecord(value string) func(*appsv1.Deployment) {
	return func(d *appsv1.Deployment) { d.Annotations[modelv1.RecordAnnotation] = value }
}

func removesRecord(d *appsv1.Deployment) { delete(d.Annotations, modelv1.RecordAnnotation) }

func TestRecordFollowsTheBox(t *testing.T) {
	labels := func(box *modelv1.ModelBox) { box.Labels = map[string]string{"team": "cart"} }
	pauses := func(box *modelv1.ModelBox) { box.Spec.Paused, box.Generation = true, box.Generation+1 }
	restored := func(manager, field string) []string {
		return []string{"Warning RestoredDeployment Restored Deployment web: " + manager + " had changed " + field}
	}
	const record = "metadata.annotations.model.github.com/record"
	for _, row := range []struct {
		name     string
		change   func(*modelv1.ModelBox)
		edit     func(*appsv1.Deployment)
		restarts bool
		requests []string
		events   []string
	}{
		{name: "a label", change: labels, requests: []string{"patch deployments web"}},
		{name: "a finalizer", change: func(box *modelv1.ModelBox) { box.Finalizers = []string{"example.com/wait"} },
			requests: []string{"patch deployments web"}},
		{name: "a pause", change: pauses, requests: []string{"patch deployments web", "update modelboxes/status web"}},
		{name: "a label, of which a new process learns", change: labels, restarts: true, requests: []string{"patch deployments web"}},
		{name: "a Deployment of a release without records", edit: removesRecord, restarts: true,
			requests: []string{"get deployments web", "patch deployments web"}},
		{name: "a record that a user removed", edit: removesRecord,
			requests: []string{"get deployments web", "patch deployments web"}, events: restored("another client", record)},
		{name: "a record that a user changed", edit: changesRecord("forged"),
			requests: []string{"get deployments web", "patch deployments web"}, events: restored("kubectl-edit", record)},
		{name: "a record that a user changed while the server was down", edit: changesRecord("forged"), restarts: true,
			requests: []string{"get deployments web", "patch deployments web"}, events: restored("kubectl-edit", record)},
		{name: "a record that a user changed, of a box that is paused", change: pauses, edit: changesRecord("forged"),
			requests: []string{"get deployments web", "patch deployments web", "update modelboxes/status web"}, events: restored("kubectl-edit", record)},
		{name: "a label, and another change by a user", change: labels, edit: func(d *appsv1.Deployment) { fixture.MainContainer(d).Image = "nginx:2" },
			requests: []string{"get deployments web", "patch deployments web"},
			events:   restored("kubectl-edit", mainImage)},
	} {
		t.Run(row.name, func(t *testing.T) {
			f := newTestController(t, fixture.WebBox(t))
			f.converge(t)
			if row.change != nil {
				f.update(t, row.change)
			}
			if row.edit != nil {
				f.changeDeployment(t, "kubectl-edit", row.edit)
			}
			f.catchUp(t)
			if row.restarts {
				f.restart()
			}
			f.mustReconcile(t)
			check(t, "requests", row.requests, f.requests())
			check(t, "events", row.events, f.told())
			f.expectRecord(t)
		})
	}
}

const mainImage = `spec.template.spec.containers[name="app"].image`

// The loss of the store must not lose a change of a box that is paused.
func TestRecordOfAPausedBoxHasItsPendingSpec(t *testing.T) {
	f := newTestController(t, fixture.WebBox(t))
	f.converge(t)
	f.update(t, func(box *modelv1.ModelBox) {
		box.Spec.Paused, box.Spec.Image, box.Generation = true, "nginx:2", box.Generation+1
	})
	f.catchUp(t)
	f.mustReconcile(t)
	check(t, "image", "nginx:1.7.9", fixture.MainContainer(f.deployment(t)).Image)
	check(t, "ready", "False Paused", f.status(t).ready)
	f.expectRecord(t)

	for range 2 * children.MaxRestores {
		f.changeDeployment(t, "kubectl-edit", removesRecord)
		f.catchUp(t)
		f.mustReconcile(t)
	}
	check(t, "requests in a fight", []string(nil), f.requests())

	f.update(t, func(box *modelv1.ModelBox) { box.Spec.Paused, box.Generation = false, box.Generation+1 })
	f.catchUp(t)
	f.mustReconcile(t)
	check(t, "image once the rollout continues", "nginx:2", fixture.MainContainer(f.deployment(t)).Image)
	f.expectRecord(t)
}

// The cache does not show yet that a user has changed more than the record.
func TestRecordOfAPausedBoxRestoresNothingElse(t *testing.T) {
	f := newTestController(t, fixture.WebBox(t))
	f.converge(t)
	f.update(t, func(box *modelv1.ModelBox) { box.Spec.Paused, box.Generation = true, box.Generation+1 })
	f.changeDeployment(t, "kubectl-edit", changesRecord("forged"))
	f.catchUp(t)
	f.changeDeployment(t, "kubectl-edit", func(d *appsv1.Deployment) { fixture.MainContainer(d).Image = "nginx:2" })
	f.cluster.ClearActions()
	f.mustReconcile(t)
	check(t, "requests", []string{"get deployments web", "patch deployments web", "update modelboxes/status web"}, f.requests())
	check(t, "image", "nginx:2", fixture.MainContainer(f.deployment(t)).Image)
	check(t, "recorded image", "nginx:1.7.9", f.recorded(t).Spec.Image)
	check(t, "ready", "False Paused", f.status(t).ready)
}

func TestNotRecordedIsReportedOnce(t *testing.T) {
	large := make([]string, 40_000)
	for i := range large {
		large[i] = fmt.Sprint("--option=", i*i*i)
	}
	f := newTestController(t, fixture.WebBox(t, func(box *modelv1.ModelBox) { box.Spec.Args = large }))
	f.mustReconcile(t)
	const want = "Warning NotRecorded The box is too large to be recorded on its Deployment, and would not be recovered if its store were lost: its spec has "
	events := f.told()
	if !slices.ContainsFunc(events, func(event string) bool { return strings.HasPrefix(event, want) }) {
		t.Errorf("events: %q", events)
	}
	if _, isThere := f.deployment(t).Annotations[modelv1.RecordAnnotation]; isThere {
		t.Error("the Deployment has a record")
	}
	f.catchUp(t)
	f.mustReconcile(t)
	check(t, "events of the second time", []string(nil), f.told())
	check(t, "requests of the second time", []string(nil), f.requests())

	f.update(t, func(box *modelv1.ModelBox) { box.Spec.Args, box.Generation = nil, box.Generation+1 })
	f.catchUp(t)
	f.mustReconcile(t)
	f.expectRecord(t)
}

func TestConflictBacksOffFromARecord(t *testing.T) {
	f := newTestController(t, fixture.WebBox(t))
	f.converge(t)
	for range 2 * children.MaxRestores {
		f.changeDeployment(t, "kubectl-edit", changesRecord("forged"))
		f.catchUp(t)
		if _, err := f.ReconcileKey(t.Context(), fixture.WebKey); err != nil {
			t.Fatal(err)
		}
	}
	check(t, "record", "forged", f.deployment(t).Annotations[modelv1.RecordAnnotation])
	check(t, "applied", "False Conflict", f.status(t).applied)
}

// A record is as large as its box. Whether it is the right one its digest tells.
func TestCachedDeploymentHasADigestOfItsRecord(t *testing.T) {
	box := fixture.WebBox(t)
	for _, row := range []struct {
		name   string
		change func(*appsv1.Deployment)
		want   apply.Operation
	}{
		{"the box's", func(*appsv1.Deployment) {}, apply.Keep},
		{"another one that is ours", changesRecord("of an earlier generation"), apply.Record},
		{"the box's, set by another manager", func(d *appsv1.Deployment) { d.ManagedFields[0].Manager = "kubectl-edit" },
			apply.Record},
		{"none", removesRecord, apply.Record},
	} {
		t.Run(row.name, func(t *testing.T) {
			live := fixture.LiveDeployment(t)
			fixture.SetHash(t, box, live)
			row.change(live)
			for range 2 {
				if _, err := kinds.TrimChild(live); err != nil {
					t.Fatal(err)
				}
			}
			check(t, "annotations", []string{"deployment.kubernetes.io/revision", modelv1.RenderHashAnnotation}, slices.Sorted(maps.Keys(live.Annotations)))
			f := newTestController(t, box)
			f.cache(t, live)
			steps, _, err := f.children.Plan(box)
			if err != nil {
				t.Fatal(err)
			}
			check(t, "operation", row.want, steps[0].Operation)
		})
	}
}

// The generation of a Deployment counts its annotations as well.
func TestRolloutIgnoresGenerationsOfAnnotations(t *testing.T) {
	at := func(generation, observed int64, changes ...func(*appsv1.Deployment)) *appsv1.Deployment {
		return completeDeployment(append([]func(*appsv1.Deployment){func(d *appsv1.Deployment) {
			d.Generation, d.Status.ObservedGeneration = generation, observed
		}}, changes...)...)
	}
	image := func(d *appsv1.Deployment) { d.Spec.Paused = true }
	for _, row := range []struct {
		name   string
		writes [][2]*appsv1.Deployment
		now    *appsv1.Deployment
		want   int64
	}{
		{"nothing was written", nil, at(6, 5), 5},
		{"annotations were written", [][2]*appsv1.Deployment{{at(5, 5), at(6, 5)}}, at(6, 5), 6},
		{"annotations were written twice", [][2]*appsv1.Deployment{{at(5, 5), at(6, 5)}, {at(6, 5), at(7, 5)}}, at(7, 5), 7},
		{"annotations were written after another change", [][2]*appsv1.Deployment{{at(5, 4), at(6, 4)}}, at(6, 4), 4},
		{"another change was made after", [][2]*appsv1.Deployment{{at(5, 5), at(6, 5)}}, at(7, 5), 5},
		{"more than annotations was written", [][2]*appsv1.Deployment{{at(5, 5), at(6, 5, image)}}, at(6, 5, image), 5},
		{"annotations of another Deployment were written", [][2]*appsv1.Deployment{{at(5, 5), at(6, 5)}},
			at(6, 5, func(d *appsv1.Deployment) { d.UID = "another" }), 5},
	} {
		t.Run(row.name, func(t *testing.T) {
			rollouts := rollouts.NewRolloutRecord()
			for _, write := range row.writes {
				rollouts.Annotated(fixture.WebKey, write[0], write[1])
			}
			check(t, "observed generation", row.want, rollouts.Observed(fixture.WebKey, kinds.AsWorkload(row.now)).(kinds.Deployment).Status.ObservedGeneration)
		})
	}
	if rollouts.NewRolloutRecord().Observed(fixture.WebKey, nil) != nil {
		t.Error("no Deployment became one")
	}
}
