// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package boxlog

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
)

// containerState is what the status of a pod says of one of its containers. Two that are equal are of the same instance of it.
type containerState struct {
	// isStarted is whether there is, or was, an instance, and so a log.
	isStarted bool
	// isEnded is whether that instance has ended.
	isEnded bool
	// restarts and id tell instances apart.
	restarts int32
	id       string
	// isLast is whether there will be no other instance.
	isLast bool
}

func stateOf(pod *corev1.Pod, container string) containerState {
	state := containerState{isLast: isTerminal(pod)}
	status := statusOf(pod, container)
	if status == nil {
		return state
	}
	state.restarts = status.RestartCount
	switch running, terminated, last := status.State.Running, status.State.Terminated, status.LastTerminationState.Terminated; {
	case running != nil:
		state.isStarted, state.id = true, status.ContainerID
	case terminated != nil && terminated.ContainerID != "":
		state.isStarted, state.isEnded, state.id = true, true, terminated.ContainerID
	case last != nil && last.ContainerID != "":
		// It waits to be started again. The kubelet has the log of what ran before.
		state.isStarted, state.isEnded, state.id = true, true, last.ContainerID
	}
	return state
}

// isTerminal returns whether nothing of the pod runs, or will again.
func isTerminal(pod *corev1.Pod) bool {
	return pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed
}

func statusOf(pod *corev1.Pod, container string) *corev1.ContainerStatus {
	for _, statuses := range [][]corev1.ContainerStatus{pod.Status.ContainerStatuses, pod.Status.InitContainerStatuses, pod.Status.EphemeralContainerStatuses} {
		if i := slices.IndexFunc(statuses, func(status corev1.ContainerStatus) bool { return status.Name == container }); i >= 0 {
			return &statuses[i]
		}
	}
	return nil
}

// hasPrevious returns whether there was another instance of the container before the one that runs.
func hasPrevious(pod *corev1.Pod, container string) bool {
	status := statusOf(pod, container)
	return status != nil && status.LastTerminationState.Terminated != nil && status.LastTerminationState.Terminated.ContainerID != ""
}
