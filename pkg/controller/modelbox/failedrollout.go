// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package modelbox

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/message"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/reconciler"
	modelboxrender "github.com/sharelinuxs/modelbox-apiserver/pkg/render/modelbox"
)

// notRolledBack comes before what keeps a box from rolling back, in the message of its rollout.
const notRolledBack = "; not rolled back: "

// observeRollout returns how the rollout of the box gets on. The children are those that the last status asks for: what is decided
// here is rendered once it is in the status, where it outlives this process.
func (r *rolloutReconciler) observeRollout(ctx context.Context, box *modelv1.ModelBox, podsHash podsHashFunc, observed *observation) (rolloutObservation, error) {
	last := box.Status.Rollout
	switch {
	case box.Spec.Rollout == nil:
		return rolloutObservation{}, nil
	case box.Spec.Paused:
		return rolloutObservation{status: last}, nil
	}
	hash, err := podsHash()
	if err != nil {
		return rolloutObservation{}, fmt.Errorf("rendering the pods: %w", err)
	}
	next := nextAttempt(last, hash, observed.now)
	if next.Phase == modelv1.RolloutRolledBack {
		next.Phase, next.Message = r.failedPhase(box, next)
		return rolloutObservation{status: next}, nil
	}
	isDone := isRolloutDone(observed)
	switch {
	case isDone && observed.workload.replicas().desired > 0:
		next.Phase, next.Reason, next.Message = modelv1.RolloutComplete, "", ""
		next.Stable = stableRevision(box, hash, next.Stable, observed)
		next.FailedRevisions = slices.DeleteFunc(slices.Clone(next.FailedRevisions), func(failed modelv1.ModelBoxFailedRevision) bool { return failed.PodsHash == hash })
		return rolloutObservation{status: next}, nil
	case isDone: // There is no pod that could have failed.
		next.Phase, next.Reason, next.Message = modelv1.RolloutComplete, "", ""
		return rolloutObservation{status: next}, nil
	case next.Phase == modelv1.RolloutComplete && next.Stable != nil && next.Stable.PodsHash == hash:
		return rolloutObservation{status: next}, nil // Pods that fail later belong to no rollout.
	case next.Phase == modelv1.RolloutComplete: // without any pod, which there are to be now
		next.Phase, next.StartedAt = modelv1.RolloutProgressing, startOf(observed.now)
	case next.Phase.HasFailed():
		next.Phase, next.Message = r.failedPhase(box, next)
		return rolloutObservation{status: next}, nil
	}
	found, err := r.findLastingFailure(ctx, box, observed, next)
	if err != nil {
		return rolloutObservation{}, err
	}
	if found.failure != nil {
		next.Reason, next.Message = conditionReason(found.failure.reason), message.Truncate(found.failure.message)
		next.FailedRevisions = withFailed(next.FailedRevisions, modelv1.ModelBoxFailedRevision{
			PodsHash: hash, Generation: box.Generation, Name: found.revision, Reason: next.Reason,
		})
		next.Phase, next.Message = r.failedPhase(box, next)
	}
	return rolloutObservation{status: next, outdated: found.outdated, recheckAfter: found.recheckAfter}, nil
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
	return next
}

func startOf(now time.Time) metav1.Time { return metav1.NewTime(now.Truncate(time.Second)) }

// isRolloutDone returns whether all pods of the workload are as the box says, and available.
func isRolloutDone(observed *observation) bool {
	return observed.workload != nil && appliedVerdict(observed).IsTrue && observed.workload.rollout().Reason == modelv1.ReasonRolloutComplete &&
		observed.workload.earlierPods(observed.pods) == 0
}

// stableRevision returns what the pods of the box are whose rollout is complete.
func stableRevision(box *modelv1.ModelBox, hash string, last *modelv1.ModelBoxRolloutRevision, observed *observation) *modelv1.ModelBoxRolloutRevision {
	if last != nil && last.PodsHash == hash {
		return last
	}
	stable := &modelv1.ModelBoxRolloutRevision{PodsHash: hash, Generation: box.Generation}
	if len(observed.pods) > 0 {
		stable.Name = revisionName(observed.workload, observed.pods[0])
	}
	return stable
}

// withFailed returns the list with the revision at its end, and no other one of the same pods.
func withFailed(failed []modelv1.ModelBoxFailedRevision, revision modelv1.ModelBoxFailedRevision) []modelv1.ModelBoxFailedRevision {
	failed = slices.DeleteFunc(slices.Clone(failed), func(other modelv1.ModelBoxFailedRevision) bool { return other.PodsHash == revision.PodsHash })
	failed = append(failed, revision)
	return failed[max(0, len(failed)-modelv1.MaxFailedRevisions):]
}

// failedPhase returns what becomes of a rollout that has failed, and the message with what is in the way of that. One that is
// rolled back stays so, whatever the box says by now.
func (r *rolloutReconciler) failedPhase(box *modelv1.ModelBox, rollout *modelv1.ModelBoxRolloutStatus) (modelv1.RolloutPhase, string) {
	failure, _, _ := strings.Cut(rollout.Message, notRolledBack)
	switch {
	case rollout.Phase == modelv1.RolloutRolledBack, box.Spec.Rollout.OnFailure == modelv1.RolloutFailureRollback:
		if err := r.canRollBack(box, rollout); err != nil {
			return modelv1.RolloutFailed, failure + notRolledBack + err.Error()
		}
		return modelv1.RolloutRolledBack, failure
	case box.Spec.Rollout.OnFailure == modelv1.RolloutFailurePause:
		return modelv1.RolloutPaused, failure
	default:
		return modelv1.RolloutFailed, failure
	}
}

// canRollBack returns why the box cannot be rolled back.
func (r *rolloutReconciler) canRollBack(box *modelv1.ModelBox, rollout *modelv1.ModelBoxRolloutStatus) error {
	switch {
	case rollout.Stable == nil:
		return errors.New("no revision of the box is known whose rollout was complete")
	case rollout.Stable.PodsHash == rollout.PodsHash:
		return errors.New("the pods are those whose rollout was complete last")
	}
	record, _ := r.stableRecords.find(box)
	stable, record := modelboxrender.StableBox(box, modelboxrender.Live{StableRecord: record})
	if stable == nil {
		return fmt.Errorf("%s, whose rollout was complete last, is not recorded any more", describeRevision(rollout.Stable))
	}
	return modelboxrender.CanRollBack(box, stable, record)
}

// lastingFailure is why a rollout will not get further.
type lastingFailure struct {
	// failure is nil where nothing is known to be in the way, and revision the name of what has failed.
	failure  *podFailure
	revision string
	// outdated and recheckAfter are the fields of rolloutObservation.
	outdated     *corev1.Pod
	recheckAfter time.Duration
}

// findLastingFailure returns why the rollout of the box has failed: a new pod will not run, or its progress deadline is exceeded.
func (r *rolloutReconciler) findLastingFailure(ctx context.Context, box *modelv1.ModelBox, observed *observation, rollout *modelv1.ModelBoxRolloutStatus) (lastingFailure, error) {
	var found lastingFailure
	if observed.workload == nil || !appliedVerdict(observed).IsTrue {
		return found, nil
	}
	isRetry := slices.ContainsFunc(rollout.FailedRevisions, func(failed modelv1.ModelBoxFailedRevision) bool { return failed.PodsHash == rollout.PodsHash })
	for _, pod := range observed.pods {
		failure, left := lastingFailureOf(pod, observed, maxRestarts(box))
		if failure == nil && left == 0 {
			continue
		}
		if isNew, err := r.isNewPod(ctx, box, observed.workload, pod); err != nil {
			return found, err
		} else if !isNew {
			continue
		}
		switch {
		case failure == nil:
			found.recheckAfter = reconciler.Soonest(found.recheckAfter, left)
		case isRetry && pod.CreationTimestamp.Before(&rollout.StartedAt):
			found.outdated = pod
		case worse(found.failure, failure) == failure:
			found.failure, found.revision = failure, revisionName(observed.workload, pod)
		}
	}
	if found.failure != nil {
		return found, nil
	}
	isOverdue, left := exceedsDeadline(box, observed, rollout.StartedAt.Time)
	found.recheckAfter = reconciler.Soonest(found.recheckAfter, left)
	if isOverdue {
		found.failure = &podFailure{reason: modelv1.ReasonProgressDeadlineExceeded, message: describeOverdue(box, observed)}
	}
	return found, nil
}

// exceedsDeadline returns whether the rollout has made no progress for too long, or after how long it will have. The condition of a
// Deployment, and what is recorded of other workloads, count if they are about this attempt.
func exceedsDeadline(box *modelv1.ModelBox, observed *observation, startedAt time.Time) (bool, time.Duration) {
	deployment, isDeployment := observed.workload.(deploymentWorkload)
	switch {
	case !isDeployment && !observed.progress.isOverdue:
		return false, 0 // reconcile looks again in any case
	case !isDeployment: // The record learns of this attempt when it is in the status of the box.
	case deployment.rollout().Reason != modelv1.ReasonProgressDeadlineExceeded:
		return false, 0
	case !deployment.condition(appsv1.DeploymentProgressing).LastUpdateTime.Time.Before(startedAt):
		return true, 0
	}
	left := startedAt.Add(progressDeadlineOf(box)).Sub(observed.now)
	return left <= 0, max(0, left)
}

// describeOverdue says what a rollout waits for that has exceeded its deadline.
func describeOverdue(box *modelv1.ModelBox, observed *observation) string {
	overdue := fmt.Sprintf("%s %q has timed out progressing", observed.workload.kind(), observed.workload.GetName())
	if failure := worse(observed.creationFailure, findPodFailures(box, observed).worst); failure != nil {
		return overdue + ": " + failure.message
	}
	replicas := observed.workload.replicas()
	return fmt.Sprintf("%s: %d of %s updated, %d available", overdue, replicas.updated, count(replicas.desired, "replica", "replicas"), replicas.available)
}

// progressDeadlineOf is how long a rollout of the box may make no progress.
func progressDeadlineOf(box *modelv1.ModelBox) time.Duration {
	return time.Duration(ptr.Deref(box.Spec.ProgressDeadlineSeconds, modelv1.DefaultProgressDeadlineSeconds)) * time.Second
}
