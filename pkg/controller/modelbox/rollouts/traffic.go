// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package rollouts

import (
	"context"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/modelbox/kinds"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/modelbox/status"
	modelboxrender "github.com/sharelinuxs/modelbox-apiserver/pkg/render/modelbox"
)

// trafficDelay is how long pods stay that no longer have traffic, until all nodes and gateways have noticed.
const trafficDelay = 10 * time.Second

// protectStable keeps the traffic of the Service from the candidate until the steps are over, where the box splits it.
func (r *Reconciler) protectStable(ctx context.Context, box *modelv1.ModelBox, steps *modelboxrender.Steps, observed *status.Observation, next *modelv1.ModelBoxRolloutStatus) error {
	if !modelboxrender.SplitsTraffic(box) {
		next.Traffic = nil
		return nil
	}
	if steps.IsOver() && (steps.LastTraffic() == modelv1.TrafficToAll || !steps.HasStablePods() || isLast(steps, next.Traffic)) {
		return nil
	}
	return r.followStable(ctx, box, observed, next)
}

// directTraffic gives the candidate its traffic in the step, where the box splits it. Only pods that are available get any.
func directTraffic(box *modelv1.ModelBox, steps *modelboxrender.Steps, observed *status.Observation, next *modelv1.ModelBoxRolloutStatus) {
	if !modelboxrender.SplitsTraffic(box) || !steps.HasStablePods() {
		return
	}
	switch {
	case steps.IsOver() && isLast(steps, next.Traffic):
		if timeLeft(next, observed.Now) == 0 {
			next.NextStepAt = nil
		}
	case steps.IsOver() && steps.LastTraffic() == modelv1.TrafficToAll:
		leadOn(steps, observed, next)
	case next.Traffic == nil || next.Traffic.Service != modelv1.TrafficToStable || !isCandidateReady(steps, observed):
	case steps.IsOver():
		leadOn(steps, observed, next)
	default:
		next.Traffic.Weight = steps.Step().Weight
	}
}

// isLast returns whether the traffic is led to where it is led when the steps are over.
func isLast(steps *modelboxrender.Steps, traffic *modelv1.ModelBoxRolloutTraffic) bool {
	return traffic != nil && traffic.Service == steps.LastTraffic()
}

// leadOn leads the Service to where it leads when the steps are over. The stable pods stay until that is known everywhere.
func leadOn(steps *modelboxrender.Steps, observed *status.Observation, next *modelv1.ModelBoxRolloutStatus) {
	next.Traffic = &modelv1.ModelBoxRolloutTraffic{Service: steps.LastTraffic()}
	next.NextStepAt = ptr.To(metav1.NewTime(observed.Now.Add(trafficDelay)))
}

// followStable leads the Service to the stable pods. The Service selects them by the hash of their template, which changes when the
// Deployment is restarted: then it leads to all pods of the box until all stable pods have the same hash again. At first it leads to all
// pods, and need not wait for stable pods that fail, which may be why there is a new revision.
func (r *Reconciler) followStable(ctx context.Context, box *modelv1.ModelBox, observed *status.Observation, next *modelv1.ModelBoxRolloutStatus) error {
	deployment, isDeployment := observed.Workload.(kinds.Deployment)
	if !isDeployment || deployment.Status.ObservedGeneration < deployment.Generation {
		return nil
	}
	newest, err := r.newReplicaSetOf(ctx, box, deployment)
	if err != nil || newest.hash == "" {
		return err
	}
	isComplete := deployment.Rollout().Reason == modelv1.ReasonRolloutComplete
	traffic := next.Traffic
	switch {
	case traffic != nil && traffic.Service == modelv1.TrafficToStable && traffic.StableHash == newest.hash:
	case isComplete && deployment.Replicas().Available > 0, traffic == nil && hasOneTemplate(deployment):
		next.Traffic = &modelv1.ModelBoxRolloutTraffic{Service: modelv1.TrafficToStable, StableHash: newest.hash}
		if traffic != nil && traffic.Service == modelv1.TrafficToStable {
			next.Traffic.Weight = traffic.Weight
		}
	case traffic != nil && traffic.Service == modelv1.TrafficToStable:
		next.Traffic = &modelv1.ModelBoxRolloutTraffic{Service: modelv1.TrafficToAll}
	}
	return nil
}

// hasOneTemplate returns whether all pods of the Deployment have its template, available or not.
func hasOneTemplate(deployment kinds.Deployment) bool {
	replicas := deployment.Replicas()
	return replicas.Updated > 0 && replicas.Updated == replicas.Current
}

// withdrawCandidate removes the candidate of a rollout that is no longer in steps, because it was rolled back, or because the box
// asks for the stable pods or for no steps. The candidate stays until the Deployment has all of its pods, and these have the
// traffic. withdrawCandidate changes next, and returns after how long to requeue the box, 0 for not at all.
func (r *Reconciler) withdrawCandidate(ctx context.Context, box *modelv1.ModelBox, observed *status.Observation, next *modelv1.ModelBoxRolloutStatus) (time.Duration, error) {
	next.Step, next.Weight = nil, nil
	if next.Candidate == nil && next.Traffic == nil {
		next.NextStepAt = nil
		return 0, nil
	}
	available := newAvailable(observed.Candidate)
	if next.Candidate != nil {
		next.Candidate.AvailableReplicas = available
	}
	isBack := isRolloutDone(observed)
	if traffic := next.Traffic; traffic != nil && next.Candidate != nil && (isBack || available == 0 || traffic.Service == modelv1.TrafficToStable) {
		if err := r.followStable(ctx, box, observed, next); err != nil {
			return 0, err
		}
		if *next.Traffic != *traffic || next.Traffic.Weight > 0 {
			next.Traffic.Weight = 0
			next.NextStepAt = ptr.To(metav1.NewTime(observed.Now.Add(trafficDelay)))
		}
	}
	switch left := timeLeft(next, observed.Now); {
	case next.Candidate != nil && !isBack && !lacksRoom(observed):
		return 0, nil
	case next.Candidate != nil && left > 0:
		return left, nil
	case next.Candidate != nil:
		next.Candidate, next.NextStepAt = nil, nil
	case observed.Candidate == nil && !hasCandidatePods(observed):
		next.Traffic = nil
	}
	return 0, nil
}

// candidateLeft returns the status of a box that asks for no rollout: nil, except while there is a candidate that is needed until the
// workload has all of its pods.
func candidateLeft(last *modelv1.ModelBoxRolloutStatus, observed *status.Observation) *modelv1.ModelBoxRolloutStatus {
	if last == nil || last.Candidate == nil || isRolloutDone(observed) || lacksRoom(observed) {
		return nil
	}
	left := &modelv1.ModelBoxRolloutStatus{Phase: modelv1.RolloutProgressing, PodsHash: last.PodsHash, StartedAt: last.StartedAt, Candidate: last.Candidate.DeepCopy()}
	left.Candidate.AvailableReplicas = newAvailable(observed.Candidate)
	return left
}
