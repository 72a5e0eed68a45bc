// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package modelbox

import (
	"cmp"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
)

// podFailure is why a pod does not run, in the words of the cluster.
type podFailure struct {
	reason  string
	message string
}

// failureOrder lists the reasons from the worst to the least: what will not go away by waiting comes first.
var failureOrder = []string{
	"InvalidImageName",
	"CreateContainerConfigError",
	"CreateContainerError",
	"RunContainerError",
	"ErrImageNeverPull",
	"ImagePullBackOff",
	"ErrImagePull",
	"CrashLoopBackOff",
	corev1.PodReasonUnschedulable,
}

// worstFailure returns the failure of the pods that comes first in failureOrder, and the one of the first pod
// where several have it. Nil when no pod fails.
func worstFailure(pods []*corev1.Pod) *podFailure {
	var worst *podFailure
	for _, pod := range pods {
		worst = worse(worst, failureOf(pod))
	}
	return worst
}

// worse returns the one of two failures that comes first in failureOrder, the first one when they are alike. Either
// may be nil.
func worse(a, b *podFailure) *podFailure {
	if a == nil || b != nil && rank(b) < rank(a) {
		return b
	}
	return a
}

func rank(failure *podFailure) int {
	if i := slices.Index(failureOrder, failure.reason); i >= 0 {
		return i
	}
	return len(failureOrder)
}

func failureOf(pod *corev1.Pod) *podFailure {
	var worst *podFailure
	for _, condition := range pod.Status.Conditions {
		if condition.Type == corev1.PodScheduled && condition.Status == corev1.ConditionFalse {
			reason := cmp.Or(condition.Reason, corev1.PodReasonUnschedulable)
			worst = &podFailure{reason, fmt.Sprintf("pod %s: %s", pod.Name, condition.Message)}
		}
	}
	for _, statuses := range [][]corev1.ContainerStatus{pod.Status.InitContainerStatuses, pod.Status.ContainerStatuses} {
		for i := range statuses {
			if failure := containerFailure(&statuses[i]); failure != nil {
				failure.message = fmt.Sprintf("pod %s, container %s: %s", pod.Name, statuses[i].Name, failure.message)
				worst = worse(worst, failure)
			}
		}
	}
	return worst
}

// containerFailure returns nil for a container that runs, has done its work or is only being created.
func containerFailure(status *corev1.ContainerStatus) *podFailure {
	waiting := status.State.Waiting
	if waiting == nil || !slices.Contains(failureOrder, waiting.Reason) {
		return nil
	}
	message := waiting.Message
	if message == "" {
		message = waiting.Reason
	}
	if last := status.LastTerminationState.Terminated; last != nil {
		message = fmt.Sprintf("%s; restarted %d times, last exit code %d", message, status.RestartCount, last.ExitCode)
	}
	return &podFailure{waiting.Reason, message}
}
