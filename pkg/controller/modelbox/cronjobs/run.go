// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

// Package cronjobs runs the CronJobs of boxes at once when the boxes are restarted.
package cronjobs

import (
	"context"
	"fmt"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/klog/v2"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/apply"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/modelbox/kinds"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/reconciler"
	modelboxrender "github.com/sharelinuxs/modelbox-apiserver/pkg/render/modelbox"
)

// Runner creates Jobs of CronJobs that are not due.
type Runner struct {
	*reconciler.For[*modelv1.ModelBox, modelv1.ModelBoxStatus]
	kubeClient kubernetes.Interface
	// created are the Jobs that were created last, by box. If the cluster does not accept the time of a restart in the pod template of a
	// CronJob, nothing else says that its Job was created when the history of the CronJob no longer has the Job.
	created *reconciler.Memory[string]
}

// New returns a runner for the controller of boxes.
func New(boxes *reconciler.For[*modelv1.ModelBox, modelv1.ModelBoxStatus], kubeClient kubernetes.Interface) *Runner {
	r := &Runner{For: boxes, kubeClient: kubeClient, created: reconciler.NewMemory[string]()}
	boxes.Remember(r.created)
	return r
}

// RunRestarted creates a Job if the box was restarted after its CronJob was written. cached is the workload of the box in the cache, which
// may be nil. The CronJob must not be written before RunRestarted has succeeded: the time of the restart in its pod template says that
// the Job was created.
func (r *Runner) RunRestarted(ctx context.Context, box *modelv1.ModelBox, cached metav1.Object) error {
	cronJob, isCronJob := cached.(*batchv1.CronJob)
	if !isCronJob || box.Spec.Paused || cronJob.DeletionTimestamp != nil || !metav1.IsControlledBy(cronJob, box) || !isRestarted(box, cronJob) {
		return nil
	}
	job, err := modelboxrender.RestartedJob(box, cronJob)
	if err != nil {
		return fmt.Errorf("rendering the Job: %w", err)
	}
	if last, _ := r.created.Get(apply.KeyOf(box)); last == job.Name {
		return nil
	}
	isNew, err := kinds.CreateJob(ctx, r.kubeClient, job, cronJob)
	if err != nil {
		return err
	}
	r.created.Set(apply.KeyOf(box), job.Name)
	if !isNew {
		return nil
	}
	r.Eventf(box, job, corev1.EventTypeNormal, "CreatedJob", "Create", "Created Job %s, because the box was restarted", job.Name)
	klog.FromContext(ctx).V(2).Info("Created a Job", "job", klog.KObj(job))
	return nil
}

// isRestarted returns whether the box was restarted after the CronJob was written. A box that was restored from a backup may have an
// earlier restart than its CronJob.
func isRestarted(box *modelv1.ModelBox, cronJob *batchv1.CronJob) bool {
	if box.Spec.PodTemplate == nil {
		return false
	}
	at, err := time.Parse(time.RFC3339, box.Spec.PodTemplate.Annotations[modelv1.RestartedAtAnnotation])
	if err != nil {
		return false
	}
	last, err := time.Parse(time.RFC3339, cronJob.Spec.JobTemplate.Spec.Template.Annotations[modelv1.RestartedAtAnnotation])
	return err != nil || at.After(last)
}
