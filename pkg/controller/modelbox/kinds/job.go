// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package kinds

import (
	"context"
	"fmt"
	"slices"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/childkinds"
	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	modelboxapply "github.com/sharelinuxs/modelbox-apiserver/pkg/apply/modelbox"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/children"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/reconciler"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/timeout"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/render"
)

// jobKind returns the Jobs of boxes whose workload is a Job as a kind of children.
func jobKind(cluster kubernetes.Interface, informer cache.SharedIndexInformer) *children.Kind {
	kind := children.NewKind(modelboxapply.Kind(childkinds.Job), informer,
		func(namespace string) children.Client[*batchv1.Job] {
			return cluster.BatchV1().Jobs(namespace)
		})
	kind.PreservedFields = fieldpath.NewSet(podMetadataPath, suspendPath)
	// The pods of a Job that is replaced have ended before the next Job starts.
	kind.Propagation = metav1.DeletePropagationForeground
	return kind
}

// Job is a Job as a workload. It has no rollouts: what the other workloads call a rollout is the run of the Job.
type Job struct {
	*batchv1.Job
	// Pods are the pods of the Job that the cache has, also pods that have ended.
	Pods []*corev1.Pod
}

func (j Job) KindName() string { return "Job" }

func (j Job) PodTemplate() *corev1.PodTemplateSpec { return &j.Spec.Template }

func (j Job) Revision() string {
	return j.Spec.Template.Annotations[modelv1.JobTemplateHashAnnotation]
}

// HasProgressDeadline is true: a Job has its own limits, of which its controller reports that they are exceeded.
func (j Job) HasProgressDeadline() bool { return true }

// Replicas has the pods that are to run now. A Job that is finished needs none.
func (j Job) Replicas() Replicas {
	var desired int32
	if !IsJobFinished(j.Job) && !ptr.Deref(j.Spec.Suspend, false) {
		desired = ptr.Deref(j.Spec.Parallelism, 1)
		if completions := j.Spec.Completions; completions != nil {
			desired = min(desired, *completions-j.Status.Succeeded)
		}
	}
	ready := ptr.Deref(j.Status.Ready, 0)
	return Replicas{Desired: desired, Current: j.Status.Active, Updated: j.Status.Active, Ready: ready, Available: ready}
}

func (j Job) Rollout() reconciler.Verdict {
	switch failed := JobCondition(j.Job, batchv1.JobFailed); {
	case JobCondition(j.Job, batchv1.JobComplete) != nil:
		return rolloutComplete("the Job has succeeded")
	case failed != nil:
		return reconciler.Verdict{Reason: modelv1.ReasonJobFailed, Message: j.describeFailure(failed)}
	default:
		return Progressing("%s", j.describeProgress())
	}
}

// describeFailure describes why the Job has failed, with the last lines of the output of its last pod.
func (j Job) describeFailure(failed *batchv1.JobCondition) string {
	return fmt.Sprintf("Job %s has failed: %s: %s%s", j.Name, failed.Reason, failed.Message, DescribeJobPods(j.Pods))
}

func (j Job) describeProgress() string {
	progress := Count(j.Status.Succeeded, "pod has succeeded", "pods have succeeded")
	if completions := ptr.Deref(j.Spec.Completions, 0); completions > 0 {
		progress = fmt.Sprintf("%d of %s succeeded", j.Status.Succeeded, Count(completions, "pod has", "pods have"))
	}
	if j.Status.Failed == 0 {
		return progress
	}
	return fmt.Sprintf("%s; %s%s", progress, JobAttempts(j.Job), DescribeJobPods(j.Pods))
}

// Availability is True when the Job has succeeded: nothing of it serves.
func (j Job) Availability() reconciler.Verdict { return JobAvailability(j.Rollout()) }

// JobAvailability returns the availability of a Job by the verdict on its run.
func JobAvailability(run reconciler.Verdict) reconciler.Verdict {
	if run.Reason != modelv1.ReasonRolloutComplete {
		return reconciler.Verdict{Reason: run.Reason, Message: run.Message}
	}
	return reconciler.Verdict{IsTrue: true, Reason: modelv1.ReasonComplete, Message: run.Message}
}

// LostJob returns the verdict on the run of a Job that has finished and no longer exists.
func LostJob(finished *modelv1.ModelBoxJobStatus) reconciler.Verdict {
	if finished.Phase == modelv1.JobFailed {
		return reconciler.Verdict{Reason: modelv1.ReasonJobFailed, Message: finished.Message}
	}
	return rolloutComplete("the Job has succeeded, and was deleted")
}

// CreationFailure is nothing that the status says: there are only events.
func (j Job) CreationFailure() *reconciler.Verdict { return nil }

// suspendPath is where a Job or a CronJob is suspended.
var suspendPath = fieldpath.MakePathOrDie("spec", "suspend")

// Pause is for a Job that another client has suspended, such as a queue of Jobs.
func (j Job) Pause() *pause {
	if !ptr.Deref(j.Spec.Suspend, false) {
		return nil
	}
	return &pause{
		path:         suspendPath,
		Reason:       modelv1.ReasonSuspended,
		message:      "has suspended the Job, until its field spec.suspend is false",
		StopsRollout: !IsJobFinished(j.Job),
	}
}

// EarlierPods is 0: the pods of an earlier Job have ended before a Job of the name is created.
func (j Job) EarlierPods([]*corev1.Pod) int32 { return 0 }

// IsJobFinished returns whether the Job has succeeded or failed.
func IsJobFinished(job *batchv1.Job) bool {
	return JobCondition(job, batchv1.JobComplete) != nil || JobCondition(job, batchv1.JobFailed) != nil
}

// JobCondition returns the condition of the Job if it is True, and nil otherwise.
func JobCondition(job *batchv1.Job, conditionType batchv1.JobConditionType) *batchv1.JobCondition {
	i := slices.IndexFunc(job.Status.Conditions, func(condition batchv1.JobCondition) bool {
		return condition.Type == conditionType && condition.Status == corev1.ConditionTrue
	})
	if i < 0 {
		return nil
	}
	return &job.Status.Conditions[i]
}

// JobAttempts words how many of the attempts of a Job have failed.
func JobAttempts(job *batchv1.Job) string {
	return fmt.Sprintf("%d of %s failed", job.Status.Failed, Count(ptr.Deref(job.Spec.BackoffLimit, 0)+1, "attempt", "attempts"))
}

// CreateJob creates a Job. It returns false if the owner already controls a Job of the name.
func CreateJob(ctx context.Context, client kubernetes.Interface, job *batchv1.Job, owner metav1.Object) (isNew bool, err error) {
	jobs := client.BatchV1().Jobs(job.Namespace)
	_, err = timeout.Request(ctx, func(ctx context.Context) (*batchv1.Job, error) {
		return jobs.Create(ctx, job, metav1.CreateOptions{FieldManager: render.FieldManager})
	})
	if apierrors.IsAlreadyExists(err) {
		live, getErr := timeout.Request(ctx, func(ctx context.Context) (*batchv1.Job, error) { return jobs.Get(ctx, job.Name, metav1.GetOptions{}) })
		if getErr == nil && metav1.IsControlledBy(live, owner) {
			return false, nil
		}
	}
	if err != nil {
		return false, fmt.Errorf("creating Job %s: %w", job.Name, err)
	}
	return true, nil
}
