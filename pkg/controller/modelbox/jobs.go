// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package modelbox

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/klog/v2"
	"k8s.io/utils/ptr"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/apply"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/informers"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/modelbox/kinds"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/modelbox/status"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/timeout"
	modelboxrender "github.com/sharelinuxs/modelbox-apiserver/pkg/render/modelbox"
)

// boxOfJob returns the box that a Job belongs to: the box that controls the Job, or the box whose CronJob does.
func (c *Controller) boxOfJob(job metav1.Object) (types.NamespacedName, bool) {
	if controller := metav1.GetControllerOfNoCopy(job); controller != nil && controller.Kind == "CronJob" {
		return types.NamespacedName{Namespace: job.GetNamespace(), Name: controller.Name}, true
	}
	return c.children.OwnerOf(job)
}

// holdsJob returns whether a step would create a Job again that has finished. Clusters delete finished Jobs after a while, and a migration
// must not run each time.
func holdsJob(box *modelv1.ModelBox, step *apply.Step) bool {
	return step.Operation == apply.Create && modelboxrender.FinishedJob(box, step.Rendered) != nil
}

// lostJob returns the result of the Job of the box if it has finished and no longer exists, nil otherwise.
func lostJob(box *modelv1.ModelBox, workload kinds.Workload, rendered []*unstructured.Unstructured) *modelv1.ModelBoxJobStatus {
	if workload != nil || len(rendered) == 0 {
		return nil
	}
	return modelboxrender.FinishedJob(box, rendered[0])
}

// withJobs returns a workload that runs to completion with its Jobs and their pods. Other workloads stay as they are.
func (c *Controller) withJobs(workload kinds.Workload) (kinds.Workload, error) {
	switch workload := workload.(type) {
	case kinds.Job:
		return c.withPods(workload.Job)
	case kinds.CronJob:
		objects, err := c.jobs.ByIndex(kinds.ByBox, apply.KeyOf(workload).String())
		if err != nil {
			return nil, fmt.Errorf("looking up the Jobs of CronJob %s: %w", workload.Name, err)
		}
		for _, object := range objects {
			if !metav1.IsControlledBy(object.(*batchv1.Job), workload) {
				continue
			}
			job, err := c.withPods(object.(*batchv1.Job))
			if err != nil {
				return nil, err
			}
			workload.Jobs = append(workload.Jobs, job)
		}
		slices.SortFunc(workload.Jobs, func(a, b kinds.Job) int {
			return cmp.Or(a.CreationTimestamp.Compare(b.CreationTimestamp.Time), cmp.Compare(a.Name, b.Name))
		})
		return workload, nil
	default:
		return workload, nil
	}
}

func (c *Controller) withPods(job *batchv1.Job) (kinds.Job, error) {
	box, _ := c.boxOfJob(job)
	objects, err := c.pods.ByIndex(kinds.ByBox, box.String())
	if err != nil {
		return kinds.Job{}, fmt.Errorf("looking up the pods of Job %s: %w", job.Name, err)
	}
	found := kinds.Job{Job: job}
	for _, object := range objects {
		if pod := object.(*corev1.Pod); metav1.IsControlledBy(pod, job) {
			found.Pods = append(found.Pods, pod)
		}
	}
	slices.SortFunc(found.Pods, func(a, b *corev1.Pod) int { return cmp.Compare(a.Name, b.Name) })
	return found, nil
}

// jobsOf returns the Jobs that the workload runs.
func jobsOf(workload kinds.Workload) []kinds.Job {
	switch workload := workload.(type) {
	case kinds.Job:
		return []kinds.Job{workload}
	case kinds.CronJob:
		return workload.Jobs
	default:
		return nil
	}
}

// jobCreationFailure returns why a Job of the workload has no pods, nil if each has some, and after how long to look again. It reads the
// events about a Job that has had no pods for StartTimeout: a cluster may have very many Jobs of others, so that the cache has no events
// about Jobs.
func (c *Controller) jobCreationFailure(ctx context.Context, workload kinds.Workload) (failure *status.PodFailure, recheckAfter time.Duration) {
	for _, job := range jobsOf(workload) {
		if kinds.IsJobFinished(job.Job) || ptr.Deref(job.Spec.Suspend, false) || job.Status.Active > 0 {
			continue
		}
		recheckAfter = status.StartTimeout
		if c.Clock.Since(job.CreationTimestamp.Time) < status.StartTimeout {
			continue
		}
		if note := c.lastCreationNote(ctx, job.Job); note != "" {
			failure = status.Worse(failure, &status.PodFailure{Reason: informers.FailedCreate, Message: note})
		}
	}
	return failure, recheckAfter
}

// lastCreationNote returns what the Job controller said last about a pod that it could not create for the Job. It is empty if the
// controller has said nothing, or cannot be asked.
func (c *Controller) lastCreationNote(ctx context.Context, job *batchv1.Job) string {
	selector := fields.AndSelectors(
		fields.OneTermEqualSelector("regarding.uid", string(job.UID)),
		fields.OneTermEqualSelector("reason", informers.FailedCreate))
	list, err := timeout.Request(ctx, func(ctx context.Context) (*eventsv1.EventList, error) {
		return c.kubeClient.EventsV1().Events(job.Namespace).List(ctx, metav1.ListOptions{FieldSelector: selector.String()})
	})
	if err != nil || len(list.Items) == 0 {
		klog.FromContext(ctx).V(4).Info("Found no events about a Job", "job", klog.KObj(job), "err", err)
		return ""
	}
	last := slices.MaxFunc(list.Items, func(a, b eventsv1.Event) int { return lastSeen(&a).Compare(lastSeen(&b)) })
	return last.Note
}
