// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package rollouts

import (
	"context"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/message"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/modelbox/status"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/reconciler"
	modelboxrender "github.com/sharelinuxs/modelbox-apiserver/pkg/render/modelbox"
)

// ObserveRollout returns the progress of the rollout of the box. The children follow the last status: a decision is rendered after
// it is in the status, where it outlives this process. live is the state that the children were rendered for.
func (r *Reconciler) ObserveRollout(ctx context.Context, box *modelv1.ModelBox, podsHash podsHashFunc, live modelboxrender.Live, observed *status.Observation) (status.RolloutObservation, error) {
	last := box.Status.Rollout
	switch {
	case box.Spec.Rollout == nil:
		return status.RolloutObservation{Status: candidateLeft(last, observed)}, nil
	case box.Spec.Paused:
		return status.RolloutObservation{Status: last}, nil
	}
	hash, err := podsHash()
	if err != nil {
		return status.RolloutObservation{}, fmt.Errorf("rendering the pods: %w", err)
	}
	next := nextAttempt(last, hash, observed.Now)
	if isOver, err := hasOtherJob(box, next); err != nil {
		return status.RolloutObservation{}, err
	} else if isOver {
		next.Phase, next.Reason, next.Message, next.StartedAt = modelv1.RolloutProgressing, "", "", startOf(observed.Now)
	}
	if observation, awaits, err := r.observeBefore(ctx, box, live, observed, next); err != nil || awaits {
		return observation, err
	}
	steps, obstacle := modelboxrender.StepsOf(box, live)
	if steps != nil {
		return r.observeSteps(ctx, box, steps, observed, next)
	}
	observation, err := r.observeReplacement(ctx, box, observed, next)
	if err != nil {
		return observation, err
	}
	if obstacle != nil && next.Phase == modelv1.RolloutProgressing && observation.AwaitedJob == "" {
		next.Message = message.Truncate("not in steps: " + obstacle.Error())
	}
	recheckAfter, err := r.withdrawCandidate(ctx, box, observed, next)
	observation.RecheckAfter = reconciler.Soonest(observation.RecheckAfter, recheckAfter)
	return observation, err
}

// observeReplacement returns how the rollout gets on of a workload that replaces its pods. It changes next, which is its status.
func (r *Reconciler) observeReplacement(ctx context.Context, box *modelv1.ModelBox, observed *status.Observation, next *modelv1.ModelBoxRolloutStatus) (status.RolloutObservation, error) {
	if next.Phase == modelv1.RolloutRolledBack {
		next.Phase, next.Message = r.failedPhase(box, next)
		return status.RolloutObservation{Status: next}, nil
	}
	isDone := isRolloutDone(observed)
	switch {
	case next.Phase.HasFailed() && next.Reason == modelv1.ReasonJobFailed: // after its pods were done
		next.Phase, next.Message = r.failedPhase(box, next)
		return status.RolloutObservation{Status: next}, nil
	case isDone && observed.Workload.Replicas().Desired > 0:
		observation := status.RolloutObservation{Status: next}
		if r.observeAfter(ctx, box, observed, &observation) {
			completeRollout(box, observed, next)
		}
		return observation, nil
	case isDone: // There is no pod that could have failed.
		next.Phase, next.Reason, next.Message = modelv1.RolloutComplete, "", ""
		return status.RolloutObservation{Status: next}, nil
	case next.Phase == modelv1.RolloutComplete && next.Stable != nil && next.Stable.PodsHash == next.PodsHash:
		return status.RolloutObservation{Status: next}, nil // Pods that fail later belong to no rollout.
	case next.Phase == modelv1.RolloutComplete: // without any pod, which there are to be now
		next.Phase, next.StartedAt = modelv1.RolloutProgressing, startOf(observed.Now)
	case next.Phase.HasFailed():
		next.Phase, next.Message = r.failedPhase(box, next)
		return status.RolloutObservation{Status: next}, nil
	}
	return r.observeProgress(ctx, box, observed.Workload, observed, next)
}

// completeRollout makes next the status of a rollout whose pods are all there and available.
func completeRollout(box *modelv1.ModelBox, observed *status.Observation, next *modelv1.ModelBoxRolloutStatus) {
	next.Phase, next.Reason, next.Message, next.Checks = modelv1.RolloutComplete, "", "", nil
	next.Stable = stableRevision(box, next.PodsHash, next.Stable, observed)
	next.FailedRevisions = slices.DeleteFunc(slices.Clone(next.FailedRevisions), func(failed modelv1.ModelBoxFailedRevision) bool { return failed.PodsHash == next.PodsHash })
}

// nextAttempt returns the status of the rollout of the pods with the hash. It continues the last status if that is about the same
// pods. Otherwise, the last status is about another rollout.
func nextAttempt(last *modelv1.ModelBoxRolloutStatus, hash string, now time.Time) *modelv1.ModelBoxRolloutStatus {
	next := &modelv1.ModelBoxRolloutStatus{Phase: modelv1.RolloutProgressing, PodsHash: hash, StartedAt: startOf(now)}
	if last == nil {
		return next
	}
	if last.PodsHash == hash {
		return last.DeepCopy()
	}
	next.Stable, next.FailedRevisions = last.Stable, last.FailedRevisions
	next.Candidate, next.Traffic, next.Jobs = last.Candidate.DeepCopy(), last.Traffic.DeepCopy(), last.Jobs
	return next
}

func startOf(now time.Time) metav1.Time { return metav1.NewTime(now.Truncate(time.Second)) }

// isRolloutDone returns whether all pods of the workload are as the box says, and available.
func isRolloutDone(observed *status.Observation) bool {
	return observed.Workload != nil && status.AppliedVerdict(observed).IsTrue && observed.Workload.Rollout().Reason == modelv1.ReasonRolloutComplete &&
		observed.Workload.EarlierPods(observed.Pods) == 0
}

// stableRevision returns what the pods of the box are whose rollout is complete.
func stableRevision(box *modelv1.ModelBox, hash string, last *modelv1.ModelBoxRolloutRevision, observed *status.Observation) *modelv1.ModelBoxRolloutRevision {
	stable := &modelv1.ModelBoxRolloutRevision{PodsHash: hash, Generation: box.Generation}
	if last != nil && last.PodsHash == hash {
		if last.Name != "" {
			return last
		}
		stable.Generation = last.Generation // The recovery of a store does not know the name.
	}
	if i := slices.IndexFunc(observed.Pods, func(pod *corev1.Pod) bool { return !isOfCandidate(pod) }); i >= 0 {
		stable.Name = revisionName(observed.Workload, observed.Pods[i])
	}
	return stable
}
