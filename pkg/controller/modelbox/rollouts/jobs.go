// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package rollouts

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/klog/v2"
	"k8s.io/utils/ptr"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/apply"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/modelbox/kinds"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/modelbox/status"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/timeout"
	modelboxrender "github.com/sharelinuxs/modelbox-apiserver/pkg/render/modelbox"
)

// defaultJobHistory is the number of finished Jobs of a box that stay, if the box does not limit its history: as many as a Deployment has
// former revisions by default.
const defaultJobHistory = 10

// jobResult is the state of the Job that a rollout waits for.
type jobResult struct {
	phase modelv1.JobPhase
	// message describes what the rollout waits for, or why the Job has failed.
	message string
	// recheckAfter is after how long to requeue the box, 0 for not at all.
	recheckAfter time.Duration
}

// runJob creates the Job of the type for the pods of the box unless it exists, and returns its state. Only one Job of a box runs at a
// time: runJob first deletes a Job of another revision, and a Job that has failed if the rollout is tried again. It changes next.
func (r *Reconciler) runJob(ctx context.Context, box *modelv1.ModelBox, jobType modelv1.JobType, observed *status.Observation, next *modelv1.ModelBoxRolloutStatus) (jobResult, error) {
	result := jobResult{phase: modelv1.JobRunning}
	wanted, err := modelboxrender.Job(box, jobType, next.PodsHash)
	if err != nil {
		return result, fmt.Errorf("rendering the Job: %w", err)
	}
	result.message = "waiting for Job " + wanted.Name
	isStopped, err := r.stopJobs(ctx, box, wanted.Name)
	if err != nil || !isStopped {
		result.message += ": another Job of the box is being stopped"
		return result, err
	}
	switch job := r.jobOf(box, wanted.Name); {
	case job == nil && !status.AppliedVerdict(observed).IsTrue:
		return result, nil
	case job == nil:
		if err := r.createJob(ctx, box, wanted); err != nil {
			return result, err
		}
	case job.DeletionTimestamp != nil:
		result.message += ": it is being deleted"
		return result, nil
	case kinds.JobCondition(job, batchv1.JobFailed) != nil && hasFailed(next.Jobs, job.Name): // The record stays until the Job is gone.
		return result, r.deleteJob(ctx, box, job)
	default:
		r.observeJob(ctx, job, observed.Now, &result)
	}
	recordJob(next, modelv1.ModelBoxRolloutJob{Name: wanted.Name, Type: jobType, PodsHash: next.PodsHash, Phase: result.phase})
	return result, nil
}

// hasFailed returns whether the Job is recorded to have failed. A rollout that waits for it nevertheless is tried again.
func hasFailed(jobs []modelv1.ModelBoxRolloutJob, name string) bool {
	return slices.ContainsFunc(jobs, func(job modelv1.ModelBoxRolloutJob) bool { return job.Name == name && job.Phase == modelv1.JobFailed })
}

// recordJob sets the Job in the status of a rollout, and leaves out the oldest Job if there are too many.
func recordJob(rollout *modelv1.ModelBoxRolloutStatus, job modelv1.ModelBoxRolloutJob) {
	rollout.Jobs = slices.DeleteFunc(slices.Clone(rollout.Jobs), func(other modelv1.ModelBoxRolloutJob) bool { return other.Name == job.Name })
	rollout.Jobs = append(rollout.Jobs, job)
	rollout.Jobs = rollout.Jobs[max(0, len(rollout.Jobs)-modelv1.MaxRolloutJobs):]
}

// jobsOf returns the Jobs of spec.before and spec.after that the box controls.
func (r *Reconciler) jobsOf(box *modelv1.ModelBox) []*batchv1.Job {
	var jobs []*batchv1.Job
	objects, err := r.jobs.ByIndex(kinds.ByBox, apply.KeyOf(box).String())
	if err != nil {
		return nil
	}
	for _, object := range objects {
		job := object.(*batchv1.Job)
		if _, hasType := job.Labels[modelv1.JobTypeLabel]; hasType && metav1.IsControlledBy(job, box) {
			jobs = append(jobs, job)
		}
	}
	return jobs
}

func (r *Reconciler) jobOf(box *modelv1.ModelBox, name string) *batchv1.Job {
	jobs := r.jobsOf(box)
	if i := slices.IndexFunc(jobs, func(job *batchv1.Job) bool { return job.Name == name }); i >= 0 {
		return jobs[i]
	}
	return nil
}

func (r *Reconciler) createJob(ctx context.Context, box *modelv1.ModelBox, job *batchv1.Job) error {
	isNew, err := kinds.CreateJob(ctx, r.kubeClient, job, box)
	if err != nil || !isNew { // The cache will show it.
		return err
	}
	r.Eventf(box, job, corev1.EventTypeNormal, "CreatedJob", "Create", "Created Job %s", job.Name)
	klog.FromContext(ctx).V(2).Info("Created a Job", "job", klog.KObj(job))
	return nil
}

// deleteJob deletes the Job and its pods. The Job is gone only when its pods are.
func (r *Reconciler) deleteJob(ctx context.Context, box *modelv1.ModelBox, job *batchv1.Job) error {
	_, err := timeout.Request(ctx, func(ctx context.Context) (struct{}, error) {
		return struct{}{}, r.kubeClient.BatchV1().Jobs(job.Namespace).Delete(ctx, job.Name, metav1.DeleteOptions{
			Preconditions:     &metav1.Preconditions{UID: &job.UID},
			PropagationPolicy: ptr.To(metav1.DeletePropagationForeground),
		})
	})
	if err != nil && !apierrors.IsNotFound(err) && !apierrors.IsConflict(err) {
		return fmt.Errorf("deleting Job %s: %w", job.Name, err)
	}
	klog.FromContext(ctx).V(2).Info("Deleted a Job", "job", klog.KObj(job))
	return nil
}

// stopJobs deletes the running Jobs of the box, except for the Job of the name. It returns whether all of them are gone.
func (r *Reconciler) stopJobs(ctx context.Context, box *modelv1.ModelBox, except string) (bool, error) {
	isStopped := true
	for _, job := range r.jobsOf(box) {
		if job.Name == except || kinds.IsJobFinished(job) {
			continue
		}
		isStopped = false
		if job.DeletionTimestamp != nil {
			continue
		}
		if err := r.deleteJob(ctx, box, job); err != nil {
			return false, err
		}
		r.Eventf(box, job, corev1.EventTypeNormal, "StoppedJob", "Delete", "Deleted Job %s, which the box no longer needs", job.Name)
	}
	return isStopped, nil
}

// PruneJobs deletes Jobs that the box does not wait for: Jobs that still run, and the oldest finished Jobs beyond its revision history. A
// finished Job that stays keeps its logs, and is known to have run if the store is lost.
func (r *Reconciler) PruneJobs(ctx context.Context, box *modelv1.ModelBox, observed *status.Observation) error {
	if box.Spec.Paused {
		return nil
	}
	if observed.Rollout.AwaitedJob == "" {
		if _, err := r.stopJobs(ctx, box, ""); err != nil {
			return err
		}
	}
	finished := slices.DeleteFunc(r.jobsOf(box), func(job *batchv1.Job) bool { return !kinds.IsJobFinished(job) || job.DeletionTimestamp != nil })
	slices.SortFunc(finished, func(a, b *batchv1.Job) int {
		return cmp.Or(b.CreationTimestamp.Compare(a.CreationTimestamp.Time), cmp.Compare(a.Name, b.Name))
	})
	// Keep the Jobs of the present revision in any case.
	history := max(2, int(ptr.Deref(box.Spec.RevisionHistoryLimit, defaultJobHistory)))
	for _, job := range finished[min(history, len(finished)):] {
		if err := r.deleteJob(ctx, box, job); err != nil {
			return err
		}
	}
	return nil
}
