// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package modelbox

import (
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/modelbox/kinds"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/modelbox/rollouts"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/modelbox/status"
)

func TestRolloutWithoutProgressIsOverdue(t *testing.T) {
	at := func(updated, available int32, changes ...func(*appsv1.StatefulSet)) kinds.Workload {
		return kinds.AsWorkload(completeStatefulSet(append([]func(*appsv1.StatefulSet){func(s *appsv1.StatefulSet) {
			s.Status.UpdatedReplicas, s.Status.AvailableReplicas = updated, available
		}}, changes...)...))
	}
	revision := func(s *appsv1.StatefulSet) { s.Status.UpdateRevision = "web-3" }
	scaled := func(s *appsv1.StatefulSet) { s.Spec.Replicas = ptr.To[int32](4) }
	partitioned := func(s *appsv1.StatefulSet) { s.Spec.UpdateStrategy.RollingUpdate.Partition = ptr.To[int32](2) }
	type look struct {
		after    time.Duration
		workload kinds.Workload
		want     status.Progress
	}
	left := func(left time.Duration) status.Progress { return status.Progress{TimeLeft: left} }
	overdue, none := status.Progress{IsOverdue: true}, status.Progress{}
	for _, row := range []struct {
		name string
		// wasOverdue is what the last status of another process said.
		wasOverdue bool
		looks      []look
	}{
		{"it makes none", false, []look{{0, at(1, 2), left(10 * time.Minute)}, {4 * time.Minute, at(1, 2), left(6 * time.Minute)}, {6 * time.Minute, at(1, 2), overdue}}},
		{"a pod is updated", false, []look{{0, at(1, 2), left(10 * time.Minute)}, {9 * time.Minute, at(2, 2), left(10 * time.Minute)}}},
		{"a pod gets available", false, []look{{0, at(1, 1), left(10 * time.Minute)}, {9 * time.Minute, at(1, 2), left(10 * time.Minute)}}},
		{"a pod fails and gets available again", false, []look{{0, at(1, 2), left(10 * time.Minute)}, {4 * time.Minute, at(1, 1), left(6 * time.Minute)}, {4 * time.Minute, at(1, 2), left(2 * time.Minute)}}},
		{"another rollout begins", false, []look{{0, at(1, 2), left(10 * time.Minute)}, {9 * time.Minute, at(1, 2, revision), left(10 * time.Minute)}}},
		{"it is scaled", false, []look{{0, at(1, 2), left(10 * time.Minute)}, {9 * time.Minute, at(1, 2, scaled), left(10 * time.Minute)}}},
		{"it gets on after all", false, []look{{0, at(1, 2), left(10 * time.Minute)}, {time.Hour, at(1, 2), overdue}, {0, at(2, 2), left(10 * time.Minute)}}},
		{"it is complete", false, []look{{0, at(3, 3), none}, {time.Hour, at(3, 3), none}, {0, at(3, 2), left(10 * time.Minute)}}},
		{"it waits for a user", false, []look{{0, at(1, 3, partitioned), none}, {time.Hour, at(1, 3, partitioned), none}}},
		{"there is no longer a workload", false, []look{{0, at(1, 2), left(10 * time.Minute)}, {time.Hour, nil, none}, {0, at(1, 2), left(10 * time.Minute)}}},
		{"it was overdue for another process", true, []look{{0, at(1, 2), overdue}, {time.Minute, at(2, 2), left(10 * time.Minute)}}},
		{"it was overdue for another process, and has got on", true, []look{{0, at(2, 2), left(10 * time.Minute)}}},
		{"a Deployment, which has a deadline itself", false, []look{{0, kinds.AsWorkload(completeDeployment(func(d *appsv1.Deployment) { d.Status.AvailableReplicas = 1 })), none}}},
	} {
		t.Run(row.name, func(t *testing.T) {
			box := statefulBox(t)
			if row.wasOverdue {
				box.Status = modelv1.ModelBoxStatus{UpdatedReplicas: 1, AvailableReplicas: 2, Conditions: []metav1.Condition{
					{Type: modelv1.ConditionProgressing, Reason: modelv1.ReasonProgressDeadlineExceeded, ObservedGeneration: box.Generation}}}
			}
			now, record := time.Now(), rollouts.NewProgressRecord()
			for i, look := range row.looks {
				now = now.Add(look.after)
				if got := record.Observe(box, look.workload, now); got != look.want {
					t.Fatalf("look %d: got %+v, want %+v", i, got, look.want)
				}
			}
		})
	}
}

func TestOverdueRolloutStallsTheBox(t *testing.T) {
	observed := &status.Observation{Workload: kinds.AsWorkload(completeStatefulSet(func(s *appsv1.StatefulSet) { s.Status.UpdatedReplicas = 1 })), Progress: status.Progress{IsOverdue: true}}
	const exceeded = "ProgressDeadlineExceeded"
	got := status.ConditionsOf(statefulBox(t), observed)
	check(t, "conditions", good.with(conditions{ready: "False " + exceeded, progressing: "False " + exceeded, stalled: "True " + exceeded}), summarize(got))
	check(t, "message", `StatefulSet "web" has timed out progressing: 1 out of 3 new replicas have been updated`, messageOf(t, got, modelv1.ConditionStalled))
}

// TestOverdueRollbackStaysOverdue lets another process take over a rollback that makes no progress.
func TestOverdueRollbackStaysOverdue(t *testing.T) {
	workload := kinds.AsWorkload(completeStatefulSet(func(s *appsv1.StatefulSet) { s.Status.UpdatedReplicas = 1 }))
	box := statefulBox(t)
	box.Status.Rollout = &modelv1.ModelBoxRolloutStatus{Phase: modelv1.RolloutRolledBack, Reason: modelv1.ReasonProgressDeadlineExceeded, Stable: &modelv1.ModelBoxRolloutRevision{Generation: 1}}
	observed := &status.Observation{Workload: workload, Progress: status.Progress{IsOverdue: true}}
	observed.Rollout.Status = box.Status.Rollout
	box.Status.Conditions = status.ConditionsOf(box, observed)
	box.Status.UpdatedReplicas, box.Status.AvailableReplicas = 1, 3
	check(t, "progressing", "False ProgressDeadlineExceeded", summarize(box.Status.Conditions).progressing)
	check(t, "progress", status.Progress{IsOverdue: true}, rollouts.NewProgressRecord().Observe(box, workload, time.Now()))
}
