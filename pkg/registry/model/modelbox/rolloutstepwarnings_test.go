// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package modelbox

import (
	"slices"
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model"
	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/warn"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/render/boxview"
	modelboxrender "github.com/sharelinuxs/modelbox-apiserver/pkg/render/modelbox"
)

// inSteps gives the box a type of rollouts, with steps.
func inSteps(rolloutType model.RolloutType, steps ...model.ModelBoxRolloutStep) func(*model.ModelBox) {
	return func(box *model.ModelBox) {
		box.Spec.Rollout = &model.ModelBoxRollout{OnFailure: model.RolloutFailureNone, MaxRestarts: ptr.To[int32](3), Type: &rolloutType, Steps: steps}
	}
}

func step(weight int32, pause string) model.ModelBoxRolloutStep {
	return model.ModelBoxRolloutStep{Weight: weight, Pause: pause}
}

// pods gives the box that number of pods.
func pods(count int32) func(*model.ModelBox) {
	return func(box *model.ModelBox) { box.Spec.Replicas, box.Status.Replicas = ptr.To(count), count }
}

func routed(box *model.ModelBox) {
	box.Spec.Route = &model.ModelBoxRoute{ParentRefs: []model.RouteParentReference{{Name: "web"}}, Path: "/", PathType: "Prefix"}
}

func TestStepConfigWarnings(t *testing.T) {
	withConfig := func(rollout model.ConfigRollout) func(*model.ModelBox) {
		return func(box *model.ModelBox) {
			box.Spec.Configs = []model.ModelBoxConfig{{Name: "web", MountPath: "/etc/web", Rollout: rollout, Data: map[string]string{"web.conf": "workers 4;"}}}
		}
	}
	half := inSteps(model.RolloutCanary, step(50, ""))
	for _, row := range []struct {
		name    string
		changes []func(*model.ModelBox)
		want    []string
	}{
		{"a StatefulSet with files that restart its pods", []func(*model.ModelBox){statefulSet, pods(2), half, withConfig(model.ConfigRolloutRestart)},
			[]string{"spec.configs[0].rollout: " + warn.FilesOfAllSteps}},
		{"a DaemonSet with files that restart its pods", []func(*model.ModelBox){daemonSet, half, withConfig(model.ConfigRolloutRestart)},
			[]string{"spec.configs[0].rollout: " + warn.FilesOfAllSteps}},
		{"a StatefulSet with versioned files", []func(*model.ModelBox){statefulSet, pods(2), half, withConfig(model.ConfigRolloutVersioned)}, nil},
		{"a StatefulSet without steps", []func(*model.ModelBox){statefulSet, pods(2), withConfig(model.ConfigRolloutRestart)}, nil},
		{"a Deployment, whose candidate has its own files", []func(*model.ModelBox){pods(2), half, withConfig(model.ConfigRolloutRestart)}, nil},
	} {
		t.Run(row.name, func(t *testing.T) {
			if diff := cmp.Diff(row.want, newStrategy().WarningsOnCreate(t.Context(), webBox(row.changes...)), cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

func TestStepWeightWarnings(t *testing.T) {
	halves := inSteps(model.RolloutCanary, step(10, ""), step(50, ""), step(60, ""), step(100, ""))
	at := func(index, rest string) string { return "spec.rollout.steps[" + index + "].weight: " + rest }
	var manyWarnings []string
	for i := range maxWarnings {
		manyWarnings = append(manyWarnings, at(strconv.Itoa(i), warn.WeightRounded(10, 25, "1 of 4 pods")))
	}
	for _, row := range []struct {
		name    string
		changes []func(*model.ModelBox)
		want    []string
	}{
		{"shares of 4 pods", []func(*model.ModelBox){pods(4), halves}, []string{
			at("0", warn.WeightRounded(10, 25, "1 of 4 pods")), at("2", warn.WeightRounded(60, 50, "2 of 4 pods")),
		}},
		{"shares that the pods have", []func(*model.ModelBox){pods(10), halves}, nil},
		{"a share that no number of pods is exactly", []func(*model.ModelBox){pods(3), inSteps(model.RolloutCanary, step(33, ""))}, nil},
		{"a share of one pod of a Deployment, which stays", []func(*model.ModelBox){pods(1), inSteps(model.RolloutCanary, step(10, ""))},
			[]string{at("0", warn.WeightRounded(10, 50, "1 of 2 pods"))}},
		{"a share of one pod of a StatefulSet, which is replaced", []func(*model.ModelBox){statefulSet, pods(1), inSteps(model.RolloutCanary, step(10, ""))},
			[]string{at("0", warn.WeightRounded(10, 100, "1 of 1 pod"))}},
		{"a share of the pods of a StatefulSet", []func(*model.ModelBox){statefulSet, pods(3), inSteps(model.RolloutCanary, step(50, ""))},
			[]string{at("0", warn.WeightRounded(50, 67, "2 of 3 pods"))}},
		{"a share of the nodes of a DaemonSet, which the box does not say", []func(*model.ModelBox){daemonSet, halves}, nil},
		{"a share of no pods", []func(*model.ModelBox){pods(0), halves}, nil},
		{"a share of a route is exact", []func(*model.ModelBox){pods(4), halves, routed}, nil},
		{"a route does not share the traffic of a StatefulSet", []func(*model.ModelBox){statefulSet, pods(4), inSteps(model.RolloutCanary, step(10, "")), routed},
			[]string{at("0", warn.WeightRounded(10, 25, "1 of 4 pods"))}},
		{"a blue-green rollout has no shares", []func(*model.ModelBox){pods(4), inSteps(model.RolloutBlueGreen, step(0, "5m"))}, nil},
		{"as many as there is room for", []func(*model.ModelBox){pods(4), inSteps(model.RolloutCanary, slices.Repeat([]model.ModelBoxRolloutStep{step(10, "")}, 20)...)},
			manyWarnings},
	} {
		t.Run(row.name, func(t *testing.T) {
			box := webBox(row.changes...)
			got := newStrategy().WarningsOnCreate(t.Context(), box)
			if diff := cmp.Diff(row.want, got, cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

// stable makes the pods of the box the stable revision.
func stable(t *testing.T, box *model.ModelBox) {
	t.Helper()
	served, err := boxview.V1(box)
	if err != nil {
		t.Fatal(err)
	}
	hash, err := modelboxrender.PodsHash(served)
	if err != nil {
		t.Fatal(err)
	}
	box.Status.Rollout = &model.ModelBoxRolloutStatus{Phase: model.RolloutComplete, PodsHash: hash, Stable: &model.ModelBoxRolloutRevision{PodsHash: hash, Generation: 1, Name: "web-1"}}
}

// checked gives the rollouts of a box checks with these names.
func checked(names ...string) func(*model.ModelBox) {
	return func(box *model.ModelBox) {
		for _, name := range names {
			box.Spec.Rollout.Checks = append(box.Spec.Rollout.Checks, model.ModelBoxRolloutCheck{Name: name})
		}
	}
}

// migrated gives a box a Job before its rollouts.
func migrated(box *model.ModelBox) { box.Spec.Before = &model.ModelBoxJob{Args: []string{"migrate"}} }

func TestWarningsOfRolloutsInSteps(t *testing.T) {
	type change = func(*model.ModelBox)
	canary := inSteps(model.RolloutCanary, step(25, "5m"), step(50, "Manual"))
	const toHalf = `1 of 4 pods (25% of the traffic) for 5m, then 2 of 4 pods (50% of the traffic) until "kubectl modelbox promote web", then all`
	newImage := image("nginx:2")
	progressing := func(box *model.ModelBox) { box.Status.Conditions = nil }
	paused := func(box *model.ModelBox) { box.Spec.Paused = true }
	targetPort := func(box *model.ModelBox) { box.Spec.Ports[0].TargetPort = intstr.FromInt32(8080) }
	for _, row := range []struct {
		name string
		// stable are changes of the stable box, old are changes of the former box, and new are changes of the update.
		stable, old, new []change
		want             []string
	}{
		{"a share of the pods", []change{pods(4), canary}, nil, []change{newImage}, []string{"rolls 4 pods in steps: " + toHalf}},
		{"a share of the traffic of a route", []change{pods(4), canary, routed}, nil, []change{newImage},
			[]string{`rolls 4 pods in steps: 25% of the traffic for 5m, then 50% of the traffic until "kubectl modelbox promote web", then all`}},
		{"a share of the pods of a StatefulSet", []change{statefulSet, pods(4), canary}, nil, []change{newImage}, []string{"rolls 4 pods in steps: " + toHalf}},
		{"a share of the nodes of a DaemonSet", []change{pods(4), daemonSet, canary}, nil, []change{newImage}, []string{"rolls 4 pods in steps: " + toHalf}},
		{"a candidate beside the only pod", []change{pods(1), inSteps(model.RolloutCanary, step(50, ""))}, nil, []change{newImage},
			[]string{"rolls 1 pod in steps: 1 of 2 pods (50% of the traffic), then all"}},
		{"a share of the pods of an autoscaler", []change{pods(4), canary}, []change{func(box *model.ModelBox) {
			box.Status.Replicas, box.Status.DesiredReplicas = 8, ptr.To[int32](8)
		}}, []change{newImage},
			[]string{`rolls 8 pods in steps: 2 of 8 pods (25% of the traffic) for 5m, then 4 of 8 pods (50% of the traffic) until "kubectl modelbox promote web", then all`}},
		{"more steps than are reported", []change{pods(4), inSteps(model.RolloutCanary, slices.Repeat([]model.ModelBoxRolloutStep{step(50, "1m")}, 7)...), routed}, nil, []change{newImage},
			[]string{"rolls 4 pods in steps: 50% of the traffic for 1m, then 50% of the traffic for 1m, then 50% of the traffic for 1m, then 50% of the traffic for 1m, then 50% of the traffic for 1m, then 2 more steps, then all"}},
		{"one step more than is reported", []change{pods(4), inSteps(model.RolloutCanary, slices.Repeat([]model.ModelBoxRolloutStep{step(50, "")}, 6)...), routed}, nil, []change{newImage},
			[]string{"rolls 4 pods in steps: 50% of the traffic, then 50% of the traffic, then 50% of the traffic, then 50% of the traffic, then 50% of the traffic, then 1 more step, then all"}},

		{"blue-green", []change{pods(4), inSteps(model.RolloutBlueGreen)}, nil, []change{newImage},
			[]string{"rolls 4 pods in steps: 4 pods of the new revision without traffic, then all of the traffic"}},
		{"blue-green with pauses", []change{pods(4), inSteps(model.RolloutBlueGreen, step(0, "10m"), step(0, "Manual"))}, nil, []change{newImage},
			[]string{`rolls 4 pods in steps: 4 pods of the new revision without traffic for 10m, then until "kubectl modelbox promote web", then all of the traffic`}},
		{"blue-green without traffic", []change{pods(4), inSteps(model.RolloutBlueGreen, step(0, "10m")), func(box *model.ModelBox) { box.Spec.Ports = nil }}, nil, []change{newImage},
			[]string{"rolls 4 pods in steps: 4 pods of the new revision beside the others for 10m, then all"}},

		{"a Job before", []change{pods(4), canary, migrated}, nil, []change{newImage}, []string{"rolls 4 pods in steps: " + toHalf, warn.RunsJobBefore}},
		{"a revert in the middle of a rollout with a Job", []change{pods(4), canary, migrated}, []change{newImage, progressing}, []change{image("nginx:1.7.9")},
			[]string{"rolls up to 4 pods" + warn.UpdatedPodsStay}},
		{"a check", []change{pods(4), canary, checked("error-rate")}, nil, []change{newImage}, []string{"rolls 4 pods in steps: " + toHalf + "; each step waits for check error-rate"}},
		{"blue-green with checks", []change{pods(4), inSteps(model.RolloutBlueGreen), checked("error-rate", "latency")}, nil, []change{newImage},
			[]string{"rolls 4 pods in steps: 4 pods of the new revision without traffic, then all of the traffic; each step waits for checks error-rate, latency"}},
		{"a paused box", []change{pods(4), canary, paused}, nil, []change{newImage}, []string{"will roll 4 pods in steps when the box is unpaused: " + toHalf}},
		{"another change in the middle of a rollout", []change{pods(4), canary}, []change{image("nginx:2"), progressing}, []change{image("nginx:3")},
			[]string{"rolls up to 4 pods in steps: " + toHalf}},
		{"a revert in the middle of a rollout", []change{pods(4), canary}, []change{newImage, progressing}, []change{image("nginx:1.7.9")},
			[]string{"rolls up to 4 pods" + warn.UpdatedPodsStay}},
		{"another change of the box", []change{pods(4), canary}, nil, []change{pods(8)}, nil},
		{"steps that the update removes", []change{pods(4), canary}, nil, []change{newImage, func(box *model.ModelBox) { box.Spec.Rollout = nil }}, []string{"rolls 4 pods"}},
		{"steps that the update adds", []change{pods(4)}, nil, []change{newImage, canary}, []string{"rolls 4 pods in steps: " + toHalf}},

		{"a box without a stable revision", []change{pods(4), canary}, []change{func(box *model.ModelBox) { box.Status.Rollout.Stable = nil }}, []change{newImage},
			[]string{"rolls 4 pods, not in steps: " + warn.NoStableRevision}},
		{"a StatefulSet without a status of its rollout", []change{statefulSet, pods(4), canary}, []change{func(box *model.ModelBox) { box.Status.Rollout = nil }}, []change{newImage},
			[]string{"rolls 4 pods, one at a time, not in steps: " + warn.NoStableRevision}},
		{"another target port", []change{pods(4), canary}, nil, []change{targetPort}, []string{"rolls 4 pods, not in steps: " + warn.OtherTargetPorts}},
		{"another target port behind a route", []change{pods(4), inSteps(model.RolloutCanary, step(50, "")), routed}, nil, []change{targetPort},
			[]string{"rolls 4 pods in steps: 50% of the traffic, then all"}},
	} {
		t.Run(row.name, func(t *testing.T) {
			old := webBox(row.stable...)
			stable(t, old)
			for _, change := range row.old {
				change(old)
			}
			box := old.DeepCopy()
			for _, change := range row.new {
				change(box)
			}
			got := rolloutWarnings(t.Context(), box, old, "")
			if diff := cmp.Diff(row.want, got, cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

// TestDiffEffectOfSteps checks that only a StatefulSet gets the new pod template while its rollout is in steps.
func TestDiffEffectOfSteps(t *testing.T) {
	canary := inSteps(model.RolloutCanary, step(50, ""))
	for _, row := range []struct {
		kind    string
		changes []func(*model.ModelBox)
		want    string
	}{
		{"StatefulSet", []func(*model.ModelBox){statefulSet, pods(4), canary}, "rolls 4 pods in steps: 2 of 4 pods (50% of the traffic), then all"},
		{"Deployment", []func(*model.ModelBox){pods(4), canary}, "rolls 4 pods"},
	} {
		t.Run(row.kind, func(t *testing.T) {
			old := webBox(row.changes...)
			stable(t, old)
			box := old.DeepCopy()
			image("nginx:2")(box)
			child := &modelv1.ModelBoxChildDiff{APIVersion: "apps/v1", Kind: row.kind, Name: "web", Action: modelv1.DiffActionUpdate,
				Fields: []modelv1.ModelBoxFieldDiff{{Path: "spec.template.spec.containers"}}}
			if got := DiffEffect(box, old, child, nil); got != row.want {
				t.Errorf("got %q, want %q", got, row.want)
			}
		})
	}
}
