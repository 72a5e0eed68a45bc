// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package rollouts

import (
	"context"
	"fmt"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/klog/v2"
	"k8s.io/utils/ptr"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/modelbox/kinds"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/modelbox/status"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/timeout"
)

// observeJob sets the phase and the message of the result from the Job, and looks at the pods of a Job that has failed or does not start.
func (r *Reconciler) observeJob(ctx context.Context, job *batchv1.Job, now time.Time, result *jobResult) {
	if kinds.JobCondition(job, batchv1.JobComplete) != nil {
		result.phase = modelv1.JobSucceeded
		return
	}
	if failed := kinds.JobCondition(job, batchv1.JobFailed); failed != nil {
		result.phase = modelv1.JobFailed
		result.message = fmt.Sprintf("Job %s has failed: %s: %s%s", job.Name, failed.Reason, failed.Message, r.describeJobPods(ctx, job))
		return
	}
	if job.Status.Failed > 0 {
		result.message += ": " + kinds.JobAttempts(job)
	}
	if ptr.Deref(job.Status.Ready, 0) > 0 {
		return
	}
	result.recheckAfter = status.StartTimeout
	if job.CreationTimestamp.Add(status.StartTimeout).Before(now) {
		result.message += r.describeJobPods(ctx, job)
	}
}

// describeJobPods describes why the newest pod of the Job has failed, or does not start. It is empty if that is not known.
func (r *Reconciler) describeJobPods(ctx context.Context, job *batchv1.Job) string {
	pods, err := timeout.Request(ctx, func(ctx context.Context) (*corev1.PodList, error) {
		return r.kubeClient.CoreV1().Pods(job.Namespace).List(ctx, metav1.ListOptions{LabelSelector: batchv1.JobNameLabel + "=" + job.Name})
	})
	if err != nil {
		klog.FromContext(ctx).Error(err, "Failed to list the pods of a Job", "job", klog.KObj(job))
		return ""
	}
	items := make([]*corev1.Pod, len(pods.Items))
	for i := range pods.Items {
		items[i] = &pods.Items[i]
	}
	return kinds.DescribeJobPods(items)
}
