// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package kinds

import (
	"fmt"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/childkinds"
	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	modelboxapply "github.com/sharelinuxs/modelbox-apiserver/pkg/apply/modelbox"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/children"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/reconciler"
)

// cronJobKind returns the CronJobs of boxes as a kind of children.
func cronJobKind(cluster kubernetes.Interface, informer cache.SharedIndexInformer) *children.Kind {
	kind := children.NewKind(modelboxapply.Kind(childkinds.CronJob), informer,
		func(namespace string) children.Client[*batchv1.CronJob] {
			return cluster.BatchV1().CronJobs(namespace)
		})
	kind.PreservedFields = fieldpath.NewSet(fieldpath.MakePathOrDie("spec", "jobTemplate", "spec", "template", "metadata"), suspendPath)
	return kind
}

// CronJob is a CronJob as a workload. It has no rollouts: a change of its pod template is for the next Job.
type CronJob struct {
	*batchv1.CronJob
	// Jobs are the Jobs of the CronJob that the cache has, in the order of their creation.
	Jobs []Job
}

func (c CronJob) KindName() string { return "CronJob" }

func (c CronJob) PodTemplate() *corev1.PodTemplateSpec { return &c.Spec.JobTemplate.Spec.Template }

// Revision is always the same: no change of the pod template has to reach pods.
func (c CronJob) Revision() string { return "" }

func (c CronJob) HasProgressDeadline() bool { return true }

// Replicas are the pods of all Jobs.
func (c CronJob) Replicas() Replicas {
	var all Replicas
	for _, job := range c.Jobs {
		replicas := job.Replicas()
		all.Desired += replicas.Desired
		all.Current += replicas.Current
		all.Updated += replicas.Updated
		all.Ready += replicas.Ready
		all.Available += replicas.Available
	}
	return all
}

// Rollout is complete unless the last run has failed. A run that is active has no result yet.
func (c CronJob) Rollout() reconciler.Verdict {
	last, finishedAt := c.lastFinished()
	if last != nil {
		if failed := JobCondition(last.Job, batchv1.JobFailed); failed != nil {
			return reconciler.Verdict{Reason: modelv1.ReasonLastJobFailed, Message: last.describeFailure(failed)}
		}
	}
	scheduled, succeeded := c.Status.LastScheduleTime, c.Status.LastSuccessfulTime
	switch {
	case scheduled == nil && last == nil:
		return rolloutComplete("no run was due yet")
	case scheduled == nil || last != nil && !finishedAt.Before(scheduled.Time):
		return rolloutComplete(fmt.Sprintf("Job %s has succeeded", last.Name))
	case c.isActive() && last == nil:
		return rolloutComplete("the first run is active")
	case c.isActive():
		return rolloutComplete(fmt.Sprintf("Job %s has succeeded, and the next run is active", last.Name))
	case succeeded != nil && !succeeded.Before(scheduled):
		return rolloutComplete("the last run has succeeded")
	default:
		return reconciler.Verdict{
			Reason:  modelv1.ReasonLastJobFailed,
			Message: fmt.Sprintf("the run of %s has not succeeded, and its Job is gone", scheduled.UTC().Format(time.RFC3339)),
		}
	}
}

// lastFinished returns the Job that has finished last, and when. It returns nil if there is none. If several Jobs finish in the same
// second, it returns the Job that was created last.
func (c CronJob) lastFinished() (last *Job, at time.Time) {
	for i := range c.Jobs {
		for _, conditionType := range []batchv1.JobConditionType{batchv1.JobComplete, batchv1.JobFailed} {
			condition := JobCondition(c.Jobs[i].Job, conditionType)
			if condition != nil && !condition.LastTransitionTime.Time.Before(at) {
				last, at = &c.Jobs[i], condition.LastTransitionTime.Time
			}
		}
	}
	return last, at
}

// isActive returns whether a run is active. The caches of Jobs and of CronJobs are not of the same time.
func (c CronJob) isActive() bool {
	for _, job := range c.Jobs {
		if !IsJobFinished(job.Job) {
			return true
		}
	}
	return len(c.Status.Active) > 0
}

func (c CronJob) Availability() reconciler.Verdict {
	if ptr.Deref(c.Spec.Suspend, false) {
		return reconciler.Verdict{Reason: modelv1.ReasonSuspended, Message: "the CronJob is suspended"}
	}
	return reconciler.Verdict{IsTrue: true, Reason: "Scheduled", Message: fmt.Sprintf("the CronJob runs at %q", c.Spec.Schedule)}
}

// CreationFailure is nothing that the status says: there are only events.
func (c CronJob) CreationFailure() *reconciler.Verdict { return nil }

// Pause is for a CronJob that is suspended by another client, or by the box.
func (c CronJob) Pause() *pause {
	if !ptr.Deref(c.Spec.Suspend, false) {
		return nil
	}
	return &pause{path: suspendPath, Reason: modelv1.ReasonSuspended, message: "has suspended the CronJob, until its field spec.suspend is false"}
}

// EarlierPods is 0: a run that is active ends, whatever becomes of the CronJob.
func (c CronJob) EarlierPods([]*corev1.Pod) int32 { return 0 }
