// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package rollouts

import (
	"context"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/helper"
	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/modelbox/kinds"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/modelbox/status"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/reconciler"
	modelboxrender "github.com/sharelinuxs/modelbox-apiserver/pkg/render/modelbox"
)

// observeSteps returns how a rollout in steps gets on. It changes next, which is its status.
func (r *Reconciler) observeSteps(ctx context.Context, box *modelv1.ModelBox, steps *modelboxrender.Steps, observed *status.Observation, next *modelv1.ModelBoxRolloutStatus) (status.RolloutObservation, error) {
	if steps.HasFormerCandidate() {
		recheckAfter, err := r.withdrawCandidate(ctx, box, observed, next)
		next.Step, next.Weight = ptr.To(steps.Number), new(int32)
		return status.RolloutObservation{Status: next, RecheckAfter: recheckAfter}, err
	}
	next.Step = ptr.To(steps.Number)
	next.Candidate = candidateOf(box, steps, observed, next)
	next.Weight = ptr.To(weightOf(box, steps, observed, next))
	if next.Phase == modelv1.RolloutComplete { // without any pod, which there are to be now
		next.Phase, next.StartedAt = modelv1.RolloutProgressing, startOf(observed.Now)
	}
	observation := status.RolloutObservation{Status: next}
	if next.Phase.HasFailed() {
		next.Phase, next.Message = r.failedPhase(box, next)
	} else {
		workload := observed.Workload
		if steps.HasStablePods() {
			workload = observed.Candidate
		}
		var err error
		if observation, err = r.observeProgress(ctx, box, workload, observed, next); err != nil {
			return observation, err
		}
	}
	if next.Phase != modelv1.RolloutProgressing {
		leaveSteps(next)
		return observation, nil
	}
	next.Message = ""
	progress, err := r.advance(ctx, box, steps, observed, &observation)
	if next.Phase.HasFailed() {
		leaveSteps(next)
		return observation, err
	}
	observation.RecheckAfter = reconciler.Soonest(observation.RecheckAfter, progress.recheckAfter)
	observation.Replaceable = replaceablePod(box, steps, observed)
	observation.AwaitedCheck = progress.awaitedCheck
	observation.AwaitsPromotion = ptr.Equal(next.Step, &steps.Number) && steps.Step().Pause == modelv1.PauseManual && isStepReached(box, steps, observed)
	return observation, err
}

// leaveSteps takes a rollout out of its steps that is rolled back. Any other rollout that has failed stays in its step.
func leaveSteps(next *modelv1.ModelBoxRolloutStatus) {
	if next.Phase == modelv1.RolloutRolledBack {
		next.Step, next.Weight, next.NextStepAt = nil, nil, nil
	}
}

// candidateOf returns the current candidate of the box, nil if there is none.
func candidateOf(box *modelv1.ModelBox, steps *modelboxrender.Steps, observed *status.Observation, next *modelv1.ModelBoxRolloutStatus) *modelv1.ModelBoxRolloutCandidate {
	if !steps.StartsCandidate() {
		return nil
	}
	candidate := &modelv1.ModelBoxRolloutCandidate{PodsHash: next.PodsHash, Generation: box.Generation, AvailableReplicas: newAvailable(observed.Candidate)}
	last := next.Candidate
	if last == nil || last.PodsHash != next.PodsHash {
		return candidate
	}
	candidate.Generation = last.Generation
	if observed.Candidate != nil && !kinds.IsObserved(observed.Candidate) { // Its template is the same: the pods of the step before stay.
		candidate.AvailableReplicas = min(last.AvailableReplicas, observed.Candidate.Replicas().Available)
	}
	return candidate
}

// newAvailable returns the number of available pods with the current template of the workload, which may be nil.
func newAvailable(workload kinds.Workload) int32 {
	if workload == nil || !kinds.IsObserved(workload) {
		return 0
	}
	replicas := workload.Replicas()
	return min(replicas.Updated, replicas.Available)
}

// weightOf returns the percentage of the traffic that the new revision gets.
func weightOf(box *modelv1.ModelBox, steps *modelboxrender.Steps, observed *status.Observation, next *modelv1.ModelBoxRolloutStatus) int32 {
	traffic := box.Status.Rollout.Traffic
	switch {
	case traffic != nil && traffic.Service == modelv1.TrafficToStable:
		return traffic.Weight
	case traffic != nil && traffic.Service == modelv1.TrafficToCandidate:
		return 100
	case observed.Workload == nil:
		return 0
	case !kinds.IsObserved(observed.Workload):
		return ptr.Deref(next.Weight, 0)
	}
	var updated int32
	if !steps.HasStablePods() {
		updated = newAvailable(observed.Workload)
	}
	all := observed.Workload.Replicas().Available
	if next.Candidate != nil && (traffic != nil || !modelboxrender.SplitsTraffic(box)) {
		updated, all = updated+next.Candidate.AvailableReplicas, all+next.Candidate.AvailableReplicas
	}
	return helper.SharePercent(updated, all)
}

// stepProgress is what a step waits for.
type stepProgress struct {
	// recheckAfter is after how long to requeue the box, 0 for not at all.
	recheckAfter time.Duration
	// awaitedCheck describes a check that has not let the rollout continue yet. It is empty if there is none.
	awaitedCheck string
}

// advance takes the rollout to its next step when the current one is over, and ends it after the last one, or when a check fails. It
// changes the observation and its status.
func (r *Reconciler) advance(ctx context.Context, box *modelv1.ModelBox, steps *modelboxrender.Steps, observed *status.Observation, observation *status.RolloutObservation) (stepProgress, error) {
	next := observation.Status
	if err := r.protectStable(ctx, box, steps, observed, next); err != nil {
		return stepProgress{}, err
	}
	if observed.Workload == nil || !status.AppliedVerdict(observed).IsTrue {
		return stepProgress{}, nil
	}
	directTraffic(box, steps, observed, next)
	if steps.IsOver() {
		next.Checks = nil
		return stepProgress{recheckAfter: r.finish(ctx, box, steps, observed, observation)}, nil
	}
	if !isStepReached(box, steps, observed) {
		next.NextStepAt, next.Checks = nil, measuredChecks(checksOfStep(box, steps.Number, observed.Now, next))
		return stepProgress{}, nil
	}
	checks, err := r.observeChecks(ctx, box, steps.Number, observed, next)
	switch {
	case err != nil:
		return stepProgress{}, err
	case checks.failure != "":
		return stepProgress{}, r.failChecks(ctx, box, checks.failure, observed, next)
	}
	progress := stepProgress{recheckAfter: checks.recheckAfter, awaitedCheck: checks.awaited}
	isOver, left := isPauseOver(steps.Step().Pause, observed.Now, next)
	progress.recheckAfter = reconciler.Soonest(progress.recheckAfter, left)
	if !isOver || !checks.areMet {
		return progress, nil
	}
	next.Step, next.NextStepAt, next.Checks = ptr.To(steps.Number+1), nil, nil
	return stepProgress{}, nil
}

// isPauseOver returns whether the pause of a step that is reached is over, or after how long it will be, 0 if that is not known. It
// begins the pause, in next.
func isPauseOver(pause string, now time.Time, next *modelv1.ModelBoxRolloutStatus) (bool, time.Duration) {
	switch {
	case pause == "":
		return true, 0
	case pause == modelv1.PauseManual:
		next.NextStepAt = nil
		return false, 0
	case next.NextStepAt == nil:
		duration, err := time.ParseDuration(pause)
		if err != nil {
			return false, 0 // Validation does not let such a box in. The step waits for the subresource promote.
		}
		next.NextStepAt = ptr.To(metav1.NewTime(now.Add(duration)))
		return false, duration
	default:
		return !now.Before(next.NextStepAt.Time), timeLeft(next, now)
	}
}

// isStepReached returns whether the pods of the step are available, and have their traffic.
func isStepReached(box *modelv1.ModelBox, steps *modelboxrender.Steps, observed *status.Observation) bool {
	if observed.Candidate == nil {
		replicas := observed.Workload.Replicas()
		return box.Spec.Workload != modelv1.WorkloadDeployment && newReplicas(observed.Workload) >= steps.NewReplicas() && replicas.Available >= replicas.Desired
	}
	last := box.Status.Rollout
	if !isCandidateReady(steps, observed) || last.Candidate == nil || last.Candidate.AvailableReplicas < steps.NewReplicas() {
		return false
	}
	switch {
	case modelboxrender.SplitsTraffic(box):
		return last.Traffic != nil && last.Traffic.Service == modelv1.TrafficToStable && last.Traffic.Weight == steps.Step().Weight
	default: // The Deployment has given pods up in exchange.
		return observed.Workload.Rollout().Reason == modelv1.ReasonRolloutComplete
	}
}

// newReplicas returns the number of pods with the current template of the workload.
func newReplicas(workload kinds.Workload) int32 {
	if !kinds.IsObserved(workload) {
		return 0
	}
	return workload.Replicas().Updated
}

// isCandidateReady returns whether all pods that the candidate is to have in the step are available.
func isCandidateReady(steps *modelboxrender.Steps, observed *status.Observation) bool {
	return observed.Candidate != nil && observed.Candidate.Rollout().Reason == modelv1.ReasonRolloutComplete &&
		observed.Candidate.Replicas().Available >= steps.NewReplicas()
}

// finish ends the rollout when the workload of the box has the new revision, and the candidate is no longer needed. It returns
// after how long to requeue the box, 0 for not at all.
func (r *Reconciler) finish(ctx context.Context, box *modelv1.ModelBox, steps *modelboxrender.Steps, observed *status.Observation, observation *status.RolloutObservation) time.Duration {
	next := observation.Status
	if steps.HasStablePods() {
		return timeLeft(next, observed.Now)
	}
	if !isRolloutDone(observed) || observed.Workload.Replicas().Desired < steps.Replicas {
		return 0
	}
	if next.Traffic != nil && next.Traffic.Service == modelv1.TrafficToCandidate {
		next.Traffic = &modelv1.ModelBoxRolloutTraffic{Service: modelv1.TrafficToAll}
		next.NextStepAt = ptr.To(metav1.NewTime(observed.Now.Add(trafficDelay)))
		return trafficDelay
	}
	if left := timeLeft(next, observed.Now); left > 0 {
		return left
	}
	if !r.observeAfter(ctx, box, observed, observation) {
		return 0
	}
	completeRollout(box, observed, next)
	next.Step, next.Weight, next.NextStepAt, next.Candidate, next.Traffic = nil, nil, nil, nil, nil
	return 0
}

// timeLeft returns how long a rollout waits that continues at a time, 0 if it does not wait.
func timeLeft(rollout *modelv1.ModelBoxRolloutStatus, now time.Time) time.Duration {
	if rollout.NextStepAt == nil {
		return 0
	}
	return max(0, rollout.NextStepAt.Sub(now))
}
