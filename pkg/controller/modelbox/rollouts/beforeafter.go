// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package rollouts

import (
	"context"
	"slices"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/apply"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/message"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/modelbox/status"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/reconciler"
	modelboxrender "github.com/sharelinuxs/modelbox-apiserver/pkg/render/modelbox"
)

// HoldsPods is children.Hold for a box that modelboxrender.HoldsPods is true for: its children stay as they are. The box may get the
// children that it does not have, except its workload, and adopt copies of its children: the pods of a restored workload have started.
func HoldsPods(box *modelv1.ModelBox, step *apply.Step) bool {
	if step.IsCopy {
		return false
	}
	return step.Operation != apply.Create || step.Kind.GroupVersionKind == modelboxrender.WorkloadKind(box)
}

// observeBefore observes a rollout whose pods wait for the Job of spec.before, and creates the Job. It returns false if the pods wait for
// no Job. A Job that fails leaves the pods as they are, whatever spec.rollout.onFailure is. observeBefore changes next.
func (r *Reconciler) observeBefore(ctx context.Context, box *modelv1.ModelBox, live modelboxrender.Live, observed *status.Observation, next *modelv1.ModelBoxRolloutStatus) (status.RolloutObservation, bool, error) {
	if !modelboxrender.AwaitsBefore(box, next.PodsHash, live) {
		return status.RolloutObservation{}, false, nil
	}
	observation, step := status.RolloutObservation{Status: next}, next.Step
	var err error
	if observation.RecheckAfter, err = r.withdrawCandidate(ctx, box, observed, next); err != nil {
		return observation, true, err
	}
	next.Step = step // An immediate rollback leaves out its steps after the Job, too.
	if next.Phase.HasFailed() {
		return observation, true, nil
	}
	job, err := r.runJob(ctx, box, modelv1.JobBefore, observed, next)
	observation.Failure = err
	observation.RecheckAfter = reconciler.Soonest(observation.RecheckAfter, job.recheckAfter)
	next.Reason, next.Message = "", ""
	switch job.phase {
	case modelv1.JobSucceeded:
		next.StartedAt = startOf(observed.Now) // The progress deadline applies to the pods, not to the Job.
	case modelv1.JobFailed:
		next.Phase, next.Reason, next.Message = modelv1.RolloutFailed, modelv1.ReasonJobFailed, message.Truncate(job.message)
		next.FailedRevisions = withFailed(next.FailedRevisions, modelv1.ModelBoxFailedRevision{
			PodsHash: next.PodsHash, Generation: box.Generation, Reason: modelv1.ReasonJobFailed,
		})
		return observation, true, nil
	}
	next.Phase, observation.AwaitedJob = modelv1.RolloutProgressing, job.message
	return observation, true, nil
}

// observeAfter observes a rollout whose pods are all available, and creates the Job of spec.after. It returns whether the rollout is
// complete: the Job has succeeded, or the box has none. If the Job fails, the rollout has failed. observeAfter changes the observation
// and its status.
func (r *Reconciler) observeAfter(ctx context.Context, box *modelv1.ModelBox, observed *status.Observation, observation *status.RolloutObservation) bool {
	next := observation.Status
	if !modelboxrender.NeedsJob(box, modelv1.JobAfter, next, next.PodsHash) {
		return true
	}
	next.Phase = modelv1.RolloutProgressing
	job, err := r.runJob(ctx, box, modelv1.JobAfter, observed, next)
	observation.Failure = err
	observation.RecheckAfter = reconciler.Soonest(observation.RecheckAfter, job.recheckAfter)
	switch job.phase {
	case modelv1.JobSucceeded:
		return true
	case modelv1.JobFailed:
		r.fail(box, modelv1.ReasonJobFailed, job.message, stableRevision(box, next.PodsHash, nil, observed).Name, next)
	default:
		observation.AwaitedJob = job.message
	}
	return false
}

// hasOtherJob returns whether the rollout has failed because of a Job in whose place the box has another Job now, or none.
func hasOtherJob(box *modelv1.ModelBox, rollout *modelv1.ModelBoxRolloutStatus) (bool, error) {
	if !rollout.Phase.HasFailed() || rollout.Reason != modelv1.ReasonJobFailed {
		return false, nil
	}
	for _, job := range slices.Backward(rollout.Jobs) {
		if job.Phase != modelv1.JobFailed || job.PodsHash != rollout.PodsHash {
			continue
		}
		name, err := modelboxrender.JobName(box, job.Type, rollout.PodsHash)
		return name != job.Name, err
	}
	return false, nil
}
