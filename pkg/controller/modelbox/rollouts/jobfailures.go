// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package rollouts

import (
	"context"
	"fmt"
	"slices"
	"strings"
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

// outputLines is how many of the last lines of a command that has failed a message has.
const outputLines = 3

// observeJob sets the phase and the message of the result from the Job, and looks at the pods of a Job that has failed or does not start.
func (r *Reconciler) observeJob(ctx context.Context, job *batchv1.Job, now time.Time, result *jobResult) {
	if jobCondition(job, batchv1.JobComplete) != nil {
		result.phase = modelv1.JobSucceeded
		return
	}
	if failed := jobCondition(job, batchv1.JobFailed); failed != nil {
		result.phase = modelv1.JobFailed
		result.message = fmt.Sprintf("Job %s has failed: %s: %s%s", job.Name, failed.Reason, failed.Message, r.describeJobPods(ctx, job))
		return
	}
	if job.Status.Failed > 0 {
		result.message += fmt.Sprintf(": %d of %s failed", job.Status.Failed, kinds.Count(ptr.Deref(job.Spec.BackoffLimit, 0)+1, "attempt", "attempts"))
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
	slices.SortFunc(pods.Items, func(a, b corev1.Pod) int { return b.CreationTimestamp.Compare(a.CreationTimestamp.Time) })
	for i := range pods.Items {
		if problem := describeJobPod(&pods.Items[i]); problem != "" {
			return "; " + problem
		}
	}
	return ""
}

// describeJobPod describes why a pod of a Job has failed, or does not start.
func describeJobPod(pod *corev1.Pod) string {
	for i := range pod.Status.ContainerStatuses {
		switch state := &pod.Status.ContainerStatuses[i].State; {
		case state.Terminated != nil && state.Terminated.ExitCode != 0:
			problem := fmt.Sprintf("pod %s: exit code %d", pod.Name, state.Terminated.ExitCode)
			if output := lastLines(state.Terminated.Message); output != "" {
				problem += ": " + output
			}
			return problem
		case state.Waiting != nil && state.Waiting.Message != "":
			return fmt.Sprintf("pod %s: %s: %s", pod.Name, state.Waiting.Reason, state.Waiting.Message)
		}
	}
	for _, condition := range pod.Status.Conditions {
		if condition.Type == corev1.PodScheduled && condition.Status == corev1.ConditionFalse {
			return fmt.Sprintf("pod %s: %s: %s", pod.Name, condition.Reason, condition.Message)
		}
	}
	return ""
}

// lastLines returns the last lines of the output of a command, in one line.
func lastLines(output string) string {
	lines := slices.DeleteFunc(strings.Split(output, "\n"), func(line string) bool { return strings.TrimSpace(line) == "" })
	return strings.Join(lines[max(0, len(lines)-outputLines):], " / ")
}
