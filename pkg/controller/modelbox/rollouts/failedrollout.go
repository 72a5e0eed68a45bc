// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package rollouts

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/helper"
	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/message"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/modelbox/kinds"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/modelbox/status"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/reconciler"
	modelboxrender "github.com/sharelinuxs/modelbox-apiserver/pkg/render/modelbox"
)

// NotRolledBack comes before what keeps a box from rolling back, in the message of its rollout.
const NotRolledBack = "; not rolled back: "

// observeProgress looks for what keeps the workload that gets the new pods from having them. It changes next.
func (r *Reconciler) observeProgress(ctx context.Context, box *modelv1.ModelBox, workload kinds.Workload, observed *status.Observation, next *modelv1.ModelBoxRolloutStatus) (status.RolloutObservation, error) {
	found, err := r.findLastingFailure(ctx, box, workload, observed, next)
	if err != nil {
		return status.RolloutObservation{}, err
	}
	if found.failure != nil {
		r.fail(box, status.ConditionReason(found.failure.Reason), found.failure.Message, found.revision, next)
	}
	return status.RolloutObservation{Status: next, Outdated: found.outdated, RecheckAfter: found.recheckAfter}, nil
}

// fail makes next the status of a rollout that has failed. revision is the name of what has failed.
func (r *Reconciler) fail(box *modelv1.ModelBox, reason, failure, revision string, next *modelv1.ModelBoxRolloutStatus) {
	next.Reason, next.Message = reason, message.Truncate(failure)
	next.FailedRevisions = withFailed(next.FailedRevisions, modelv1.ModelBoxFailedRevision{
		PodsHash: next.PodsHash, Generation: box.Generation, Name: revision, Reason: reason,
	})
	next.Phase, next.Message = r.failedPhase(box, next)
}

// withFailed returns the list with the revision at its end, and no other one of the same pods.
func withFailed(failed []modelv1.ModelBoxFailedRevision, revision modelv1.ModelBoxFailedRevision) []modelv1.ModelBoxFailedRevision {
	failed = slices.DeleteFunc(slices.Clone(failed), func(other modelv1.ModelBoxFailedRevision) bool { return other.PodsHash == revision.PodsHash })
	failed = append(failed, revision)
	return failed[max(0, len(failed)-modelv1.MaxFailedRevisions):]
}

// failedPhase returns the phase of a rollout that has failed, and the message. The message includes the obstacle to a rollback, if
// there is one. A rollout that was rolled back stays rolled back, even if spec.rollout.onFailure changes.
func (r *Reconciler) failedPhase(box *modelv1.ModelBox, rollout *modelv1.ModelBoxRolloutStatus) (modelv1.RolloutPhase, string) {
	failure, _, _ := strings.Cut(rollout.Message, NotRolledBack)
	switch {
	case rollout.Phase == modelv1.RolloutRolledBack, box.Spec.Rollout.OnFailure == modelv1.RolloutFailureRollback:
		if err := r.canRollBack(box, rollout); err != nil {
			return modelv1.RolloutFailed, failure + NotRolledBack + err.Error()
		}
		return modelv1.RolloutRolledBack, failure
	case box.Spec.Rollout.OnFailure == modelv1.RolloutFailurePause:
		return modelv1.RolloutPaused, failure
	default:
		return modelv1.RolloutFailed, failure
	}
}

// canRollBack returns why the box cannot be rolled back.
func (r *Reconciler) canRollBack(box *modelv1.ModelBox, rollout *modelv1.ModelBoxRolloutStatus) error {
	switch {
	case rollout.Stable == nil:
		return errors.New("no revision of the box is known whose rollout was complete")
	case rollout.Stable.PodsHash == rollout.PodsHash:
		return errors.New("the pods are those whose rollout was complete last")
	}
	record, _ := r.StableRecords.Find(box)
	stable, record := modelboxrender.StableBox(box, modelboxrender.Live{StableRecord: record})
	if stable == nil {
		return fmt.Errorf("%s, whose rollout was complete last, is no longer recorded", status.DescribeRevision(rollout.Stable))
	}
	return modelboxrender.CanRollBack(box, stable, record)
}

// lastingFailure is why a rollout will not get further.
type lastingFailure struct {
	// failure is nil where nothing is known to be in the way, and revision the name of what has failed.
	failure  *status.PodFailure
	revision string
	// outdated and recheckAfter are the fields of rolloutObservation.
	outdated     *corev1.Pod
	recheckAfter time.Duration
}

// findLastingFailure returns why the rollout of the box has failed: a new pod of the workload will not run, or its progress deadline is
// exceeded. The workload may be nil.
func (r *Reconciler) findLastingFailure(ctx context.Context, box *modelv1.ModelBox, workload kinds.Workload, observed *status.Observation, rollout *modelv1.ModelBoxRolloutStatus) (lastingFailure, error) {
	var found lastingFailure
	if workload == nil || !status.AppliedVerdict(observed).IsTrue {
		return found, nil
	}
	isRetry := slices.ContainsFunc(rollout.FailedRevisions, func(failed modelv1.ModelBoxFailedRevision) bool { return failed.PodsHash == rollout.PodsHash })
	for _, pod := range observed.Pods {
		failure, left := status.LastingFailureOf(pod, observed, status.MaxRestarts(box))
		if failure == nil && left == 0 {
			continue
		}
		if isNew, err := r.isNewPod(ctx, box, workload, pod); err != nil {
			return found, err
		} else if !isNew {
			continue
		}
		switch {
		case failure == nil:
			found.recheckAfter = reconciler.Soonest(found.recheckAfter, left)
		case isRetry && pod.CreationTimestamp.Before(&rollout.StartedAt):
			found.outdated = pod
		case status.Worse(found.failure, failure) == failure:
			found.failure, found.revision = failure, revisionName(workload, pod)
		}
	}
	if found.failure != nil {
		return found, nil
	}
	isOverdue, left := exceedsDeadline(box, workload, observed, rollout.StartedAt.Time)
	found.recheckAfter = reconciler.Soonest(found.recheckAfter, left)
	if isOverdue {
		found.failure = &status.PodFailure{Reason: modelv1.ReasonProgressDeadlineExceeded, Message: describeOverdue(box, workload, observed)}
	}
	return found, nil
}

// exceedsDeadline returns whether the rollout has made no progress for too long, or after how long it will have. The condition of a
// Deployment, and what is recorded of other workloads, count if they are about this attempt.
func exceedsDeadline(box *modelv1.ModelBox, workload kinds.Workload, observed *status.Observation, startedAt time.Time) (bool, time.Duration) {
	deployment, isDeployment := workload.(kinds.Deployment)
	switch {
	case !isDeployment && !observed.Progress.IsOverdue:
		return false, 0 // reconcile looks again in any case
	case !isDeployment: // The record learns of this attempt when it is in the status of the box.
	case deployment.Rollout().Reason != modelv1.ReasonProgressDeadlineExceeded:
		return false, 0
	case !deployment.Condition(appsv1.DeploymentProgressing).LastUpdateTime.Time.Before(startedAt):
		return true, 0
	}
	left := startedAt.Add(helper.ProgressDeadline(box)).Sub(observed.Now)
	return left <= 0, max(0, left)
}

// describeOverdue says what a rollout waits for that has exceeded its deadline.
func describeOverdue(box *modelv1.ModelBox, workload kinds.Workload, observed *status.Observation) string {
	overdue := fmt.Sprintf("%s %q has timed out progressing", workload.KindName(), workload.GetName())
	if failure := status.Worse(observed.CreationFailure, status.FindPodFailures(box, observed).Worst); failure != nil {
		return overdue + ": " + failure.Message
	}
	replicas := workload.Replicas()
	return fmt.Sprintf("%s: %d of %s updated, %d available", overdue, replicas.Updated, kinds.Count(replicas.Desired, "replica", "replicas"), replicas.Available)
}
