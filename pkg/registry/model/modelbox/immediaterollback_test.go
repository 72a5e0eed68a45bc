// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package modelbox

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clocktesting "k8s.io/utils/clock/testing"
	"k8s.io/utils/ptr"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/warn"
)

// hashOf returns the hash of the pods of a box with the image.
func hashOf(t *testing.T, box *model.ModelBox, name string) string {
	t.Helper()
	box = box.DeepCopy()
	image(name)(box)
	stable(t, box)
	return box.Status.Rollout.PodsHash
}

func TestImmediateRollback(t *testing.T) {
	type change = func(*model.ModelBox)
	now := time.Date(2026, 1, 2, 3, 4, 5, 6, time.UTC)
	canary := inSteps(model.RolloutCanary, step(25, "5m"), step(50, "Manual"))
	candidate := &model.ModelBoxRolloutCandidate{PodsHash: "candidate", Generation: 2, AvailableReplicas: 1}
	traffic := &model.ModelBoxRolloutTraffic{Service: "Stable", StableHash: "abc", Weight: 25}
	failed := []model.ModelBoxFailedRevision{{PodsHash: "failed", Reason: "ImagePullBackOff"}}
	for _, row := range []struct {
		name string
		// changes are changes of both boxes, old are changes of the old box, and new are changes of the rollback.
		changes, old, new []change
		// step is the step in the new status, 0 if that is the old one.
		step     int32
		warnings []string
	}{
		{"a canary", []change{pods(4), canary}, nil, []change{image("nginx:0")}, 3, []string{"rolls 4 pods without the steps of the rollout"}},
		{"blue-green without steps of its own", []change{pods(4), inSteps(model.RolloutBlueGreen)}, nil, []change{image("nginx:0")}, 2, []string{"rolls 4 pods without the steps of the rollout"}},
		{"a canary of a StatefulSet", []change{statefulSet, pods(4), canary}, nil, []change{image("nginx:0")}, 3, []string{"rolls 4 pods without the steps of the rollout, one at a time"}},
		{"in the middle of a rollout", []change{pods(4), canary}, []change{func(box *model.ModelBox) {
			image("nginx:2")(box)
			rollout := box.Status.Rollout
			rollout.Phase, rollout.PodsHash, rollout.Step, rollout.Weight, rollout.NextStepAt = model.RolloutProgressing, "candidate", ptr.To[int32](1), ptr.To[int32](25), &metav1.Time{Time: now}
			rollout.Candidate, rollout.Traffic, rollout.FailedRevisions = candidate, traffic, failed
			rollout.Checks = []model.ModelBoxRolloutCheckStatus{{Name: "errors", Step: 1}}
		}}, []change{image("nginx:0")}, 3, []string{"rolls 4 pods without the steps of the rollout"}},
		{"to the stable revision", []change{pods(4), canary}, []change{func(box *model.ModelBox) {
			image("nginx:2")(box)
			box.Status.Rollout.PodsHash, box.Status.Rollout.Step = "candidate", ptr.To[int32](1)
		}}, []change{image("nginx:1.7.9")}, 0, []string{"rolls 4 pods"}},
		{"to a revision without steps", []change{pods(4), canary}, nil, []change{image("nginx:0"), func(box *model.ModelBox) { box.Spec.Rollout = nil }}, 0, []string{"rolls 4 pods"}},
		{"a box without a stable revision", []change{pods(4), canary}, []change{func(box *model.ModelBox) { box.Status.Rollout.Stable = nil }}, []change{image("nginx:0")}, 0,
			[]string{"rolls 4 pods, not in steps: " + warn.NoStableRevision}},
		{"to an invalid revision", []change{pods(4), canary}, nil, []change{image("")}, 0, nil},
	} {
		t.Run(row.name, func(t *testing.T) {
			old := webBox(row.changes...)
			stable(t, old)
			for _, change := range row.old {
				change(old)
			}
			box := old.DeepCopy()
			box.Status = model.ModelBoxStatus{}
			for _, change := range row.new {
				change(box)
			}
			strategy := NewImmediateRollbackStrategy(newStrategy(), clocktesting.NewFakePassiveClock(now))
			strategy.PrepareForUpdate(t.Context(), box, old)
			want := old.Status.DeepCopy()
			if row.step > 0 {
				last := old.Status.Rollout
				want.Rollout = &model.ModelBoxRolloutStatus{
					Phase: model.RolloutProgressing, PodsHash: hashOf(t, box, "nginx:0"), StartedAt: metav1.NewTime(now.Truncate(time.Second)), Step: &row.step,
					Stable: last.Stable, FailedRevisions: last.FailedRevisions, Candidate: last.Candidate, Traffic: last.Traffic,
				}
			}
			if diff := cmp.Diff(*want, box.Status); diff != "" {
				t.Errorf("the status, -want +got:\n%s", diff)
			}
			if box.Generation != old.Generation+1 {
				t.Errorf("generation %d after %d", box.Generation, old.Generation)
			}
			if row.warnings == nil {
				return
			}
			if diff := cmp.Diff(row.warnings, rolloutWarnings(t.Context(), box, old, "")); diff != "" {
				t.Errorf("the warnings, -want +got:\n%s", diff)
			}
		})
	}
}

// An immediate rollback to the revision that is beyond its steps leaves its progress as it is.
func TestImmediateRollbackBeyondTheSteps(t *testing.T) {
	old := webBox(pods(4), inSteps(model.RolloutCanary, step(25, "5m")))
	stable(t, old)
	rollout := old.Status.Rollout
	rollout.PodsHash, rollout.Phase, rollout.Step = hashOf(t, old, "nginx:2"), model.RolloutProgressing, ptr.To[int32](2)
	rollout.NextStepAt = &metav1.Time{Time: time.Unix(100, 0)}
	image("nginx:3")(old)
	box := old.DeepCopy()
	image("nginx:2")(box)
	NewImmediateRollbackStrategy(newStrategy(), clocktesting.NewFakePassiveClock(time.Unix(50, 0))).PrepareForUpdate(t.Context(), box, old)
	if diff := cmp.Diff(old.Status, box.Status); diff != "" {
		t.Errorf("the status, -want +got:\n%s", diff)
	}
}
