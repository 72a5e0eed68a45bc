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
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/fixture"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/modelbox/status"
)

// candidateOf returns a candidate Deployment of two pods, of which that many are available.
func candidateOf(available int32) *appsv1.Deployment {
	return completeDeployment(func(d *appsv1.Deployment) {
		d.Name, d.Status.AvailableReplicas, d.Status.ReadyReplicas = "web-canary", available, available
	})
}

func TestProgressingInSteps(t *testing.T) {
	until := metav1.NewTime(time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC))
	over := metav1.Time{}
	const aCheck = "check errors: 1 of 2 measurements"
	inStep := func(step int32) *modelv1.ModelBoxRolloutStatus {
		return &modelv1.ModelBoxRolloutStatus{Phase: modelv1.RolloutProgressing, Step: &step}
	}
	for _, row := range []struct {
		name        string
		rolloutType modelv1.RolloutType
		rollout     *modelv1.ModelBoxRolloutStatus
		awaits      bool
		check       string
		candidate   *appsv1.Deployment
		want        string
	}{
		{"no step", modelv1.RolloutCanary, &modelv1.ModelBoxRolloutStatus{Phase: modelv1.RolloutProgressing}, false, "", nil, "2 of 2 replicas are available"},
		{"without a candidate yet", modelv1.RolloutCanary, inStep(1), false, "", nil,
			"step 1 of 2 (weight 25); 2 of 2 replicas are available"},
		{"pods that are not available", modelv1.RolloutCanary, inStep(1), false, "", candidateOf(1),
			"step 1 of 2 (weight 25); 1 of 2 pods of the new revision available"},
		{"a pause", modelv1.RolloutCanary, &modelv1.ModelBoxRolloutStatus{Phase: modelv1.RolloutProgressing, Step: ptr.To[int32](1), NextStepAt: &until}, false, "", candidateOf(2),
			"step 1 of 2 (weight 25); paused until 2026-01-02T03:04:05Z"},
		{"a pause with a check", modelv1.RolloutCanary, &modelv1.ModelBoxRolloutStatus{Phase: modelv1.RolloutProgressing, Step: ptr.To[int32](1), NextStepAt: &until}, false, aCheck, candidateOf(2),
			"step 1 of 2 (weight 25); paused until 2026-01-02T03:04:05Z; waiting for " + aCheck},
		{"a pause that is over", modelv1.RolloutCanary, &modelv1.ModelBoxRolloutStatus{Phase: modelv1.RolloutProgressing, Step: ptr.To[int32](1), NextStepAt: &over}, false, "", candidateOf(2),
			"step 1 of 2 (weight 25); paused until 0001-01-01T00:00:00Z"},
		{"a pause that is over, with a check", modelv1.RolloutCanary, &modelv1.ModelBoxRolloutStatus{Phase: modelv1.RolloutProgressing, Step: ptr.To[int32](1), NextStepAt: &over}, false, aCheck, candidateOf(2),
			"step 1 of 2 (weight 25); waiting for " + aCheck},
		{"a check", modelv1.RolloutCanary, inStep(1), false, aCheck, candidateOf(2), "step 1 of 2 (weight 25); waiting for " + aCheck},
		{"a step that waits with a check", modelv1.RolloutCanary, inStep(2), true, aCheck, candidateOf(2),
			`step 2 of 2 (weight 50); waiting for "kubectl modelbox promote web"; ` + aCheck},
		{"a step that waits", modelv1.RolloutCanary, inStep(2), true, "", candidateOf(2),
			`step 2 of 2 (weight 50); waiting for "kubectl modelbox promote web"`},
		{"after the steps", modelv1.RolloutCanary, inStep(3), false, "", candidateOf(2),
			"all steps are over, and the new revision takes the place of the stable one: 2 of 2 replicas are available"},
		{"an abort", modelv1.RolloutCanary, &modelv1.ModelBoxRolloutStatus{
			Phase: modelv1.RolloutRolledBack, Reason: modelv1.RolloutAborted, Message: `user "anna" aborted it`, Stable: &modelv1.ModelBoxRolloutRevision{Name: "web-1", Generation: 1},
		}, false, "", nil, `the rollout was aborted: user "anna" aborted it; rolled back to revision web-1 of generation 1: 2 of 2 replicas are available; ` +
			`to continue, change the spec, or run "kubectl modelbox retry web" or "kubectl modelbox rollback web"`},
		{"blue-green", modelv1.RolloutBlueGreen, inStep(1), false, "", candidateOf(0),
			"step 1 of 1: the new revision without traffic; 0 of 2 pods of the new revision available"},
		{"blue-green after the switch", modelv1.RolloutBlueGreen, inStep(2), false, "", candidateOf(2),
			"all steps are over, and the new revision takes the place of the stable one: 2 of 2 replicas are available"},
	} {
		t.Run(row.name, func(t *testing.T) {
			box := fixture.WebBox(t, func(box *modelv1.ModelBox) {
				box.Spec.Rollout = &modelv1.ModelBoxRollout{Type: &row.rolloutType}
				if row.rolloutType == modelv1.RolloutCanary {
					box.Spec.Rollout.Steps = twoSteps
				}
				box.Status.Rollout = row.rollout
			})
			observed := &status.Observation{Workload: workloadOf(completeDeployment()), Candidate: workloadOf(row.candidate),
				Rollout: status.RolloutObservation{Status: row.rollout, AwaitsPromotion: row.awaits, AwaitedCheck: row.check}}
			conditions := status.ConditionsOf(box, observed)
			check(t, "message", row.want, messageOf(t, conditions, modelv1.ConditionProgressing))
			isComplete := row.rollout.Step == nil && row.rollout.Phase == modelv1.RolloutProgressing
			check(t, "complete", isComplete, conditions[2].Reason == modelv1.ReasonRolloutComplete)
		})
	}
}

func TestReplicasInSteps(t *testing.T) {
	annotated := func(annotation string) func(*appsv1.Deployment) {
		return func(d *appsv1.Deployment) { d.Annotations = map[string]string{annotation: "4"} }
	}
	stable := annotated(modelv1.RolledBackAnnotation)
	type numbers struct{ desired, current, updated, ready, available int32 }
	for _, row := range []struct {
		name      string
		workload  func(*appsv1.Deployment)
		step      *int32
		candidate *appsv1.Deployment
		want      numbers
	}{
		{"not in steps", func(*appsv1.Deployment) {}, nil, nil, numbers{2, 2, 2, 2, 2}},
		{"in steps", stable, ptr.To[int32](1), candidateOf(1), numbers{4, 4, 2, 3, 3}},
		{"after the steps, with the stable pods", stable, ptr.To[int32](3), candidateOf(2), numbers{4, 4, 2, 4, 4}},
		{"after the steps", func(*appsv1.Deployment) {}, ptr.To[int32](3), candidateOf(2), numbers{4, 4, 4, 4, 4}},
		{"on the way back", stable, nil, candidateOf(2), numbers{4, 4, 2, 4, 4}},
		{"autoscaled", annotated(modelv1.AutoscaledAnnotation), ptr.To[int32](3), candidateOf(2), numbers{2, 4, 4, 4, 4}},
	} {
		t.Run(row.name, func(t *testing.T) {
			box := fixture.WebBox(t, func(box *modelv1.ModelBox) {
				box.Spec.Replicas = ptr.To[int32](4)
				box.Spec.Rollout = &modelv1.ModelBoxRollout{Type: ptr.To(modelv1.RolloutCanary), Steps: twoSteps}
			})
			got := status.Of(box, &status.Observation{Workload: workloadOf(completeDeployment(row.workload)), Candidate: workloadOf(row.candidate),
				Rollout: status.RolloutObservation{Status: &modelv1.ModelBoxRolloutStatus{Phase: modelv1.RolloutProgressing, Step: row.step}}})
			if has := (numbers{*got.DesiredReplicas, got.Replicas, got.UpdatedReplicas, got.ReadyReplicas, got.AvailableReplicas}); has != row.want {
				t.Errorf("got %+v, want %+v", has, row.want)
			}
		})
	}
}
