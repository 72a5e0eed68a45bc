// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package status

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/cli/cliutil"
)

// podNode is a pod in the words of "kubectl get pods", with the message of what is wrong.
func podNode(pod *corev1.Pod) *node {
	status := string(pod.Status.Phase)
	message := pod.Status.Message
	if pod.Status.Reason != "" {
		status = pod.Status.Reason
	}
	for i := range pod.Status.Conditions {
		condition := &pod.Status.Conditions[i]
		if condition.Type == corev1.PodScheduled && condition.Status == corev1.ConditionFalse {
			status, message = condition.Reason, condition.Message
		}
	}
	ready, restarts := 0, int32(0)
	for i := range pod.Status.InitContainerStatuses {
		container := &pod.Status.InitContainerStatuses[i]
		restarts += container.RestartCount
		if reason, text := failureOf(container); reason != "" {
			status, message = "Init:"+reason, text
			break
		}
	}
	for i := range pod.Status.ContainerStatuses {
		container := &pod.Status.ContainerStatuses[i]
		restarts += container.RestartCount
		if container.Ready {
			ready++
		}
		if reason, text := failureOf(container); reason != "" {
			status, message = reason, text
		}
	}
	n := &node{
		name:    "Pod/" + pod.Name,
		object:  pod,
		ready:   fmt.Sprintf("%d/%d", ready, len(pod.Spec.Containers)),
		message: cliutil.OneLine(message),
		health:  podHealth(pod, status, ready),
	}
	if pod.DeletionTimestamp != nil {
		status, n.message, n.health = "Terminating", "", underway
	}
	n.status = status
	if restarts == 1 {
		n.status += ", 1 restart"
	} else if restarts > 1 {
		n.status += fmt.Sprintf(", %d restarts", restarts)
	}
	return n
}

func podHealth(pod *corev1.Pod, status string, ready int) health {
	switch {
	case ready == len(pod.Spec.Containers), pod.Status.Phase == corev1.PodSucceeded:
		return healthy
	case status == string(corev1.PodRunning), status == string(corev1.PodPending), status == "ContainerCreating", status == "PodInitializing":
		return underway
	}
	return failing
}

// failureOf returns why a container does not run, "" for one that does, or did without an error.
func failureOf(container *corev1.ContainerStatus) (reason, message string) {
	switch state := container.State; {
	case state.Waiting != nil && state.Waiting.Reason != "":
		message := state.Waiting.Message
		if last := container.LastTerminationState.Terminated; last != nil && last.ExitCode != 0 {
			message = fmt.Sprintf("%s; last terminated with exit code %d: %s", message, last.ExitCode, last.Reason)
		}
		return state.Waiting.Reason, message
	case state.Terminated != nil && state.Terminated.ExitCode != 0:
		reason := state.Terminated.Reason
		if reason == "" {
			reason = "Error"
		}
		return reason, fmt.Sprintf("container %s terminated with exit code %d %s", container.Name, state.Terminated.ExitCode, state.Terminated.Message)
	}
	return "", ""
}
