// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package poddebugger

import (
	"fmt"
	"regexp"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/message"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/reconciler"
)

// isMereProgress returns whether no condition differs in more than its words, and nothing was observed of another generation.
func isMereProgress(before, after *modelv1.PodDebuggerStatus) bool {
	if before.ObservedGeneration != after.ObservedGeneration || len(before.Conditions) != len(after.Conditions) {
		return false
	}
	for i := range after.Conditions {
		was, is := &before.Conditions[i], &after.Conditions[i]
		if was.Type != is.Type || was.Status != is.Status || was.Reason != is.Reason {
			return false
		}
	}
	return true
}

// statusOf computes the status of a PodDebugger from what there is of it.
func statusOf(debugger *modelv1.PodDebugger, found *survey) modelv1.PodDebuggerStatus {
	status := modelv1.PodDebuggerStatus{
		ContainerName: found.containerName,
		SelectedPods:  int32(found.selected),
		DebuggedPods:  int32(len(found.debugged)),
		RefusedPods:   int32(len(found.refused)),
		Conditions:    slices.Clone(debugger.Status.Conditions),
	}
	for _, pod := range found.debugged {
		state := stateOf(pod, found.containerName)
		if state.Running != nil {
			status.RunningPods++
		}
		status.Pods = append(status.Pods, modelv1.PodDebuggerPod{Name: pod.Name, UID: pod.UID, Box: found.boxes[pod.UID], State: state})
	}
	for _, pod := range found.chosen {
		if refusal, ok := found.refused[pod.UID]; ok {
			status.Pods = append(status.Pods, modelv1.PodDebuggerPod{Name: pod.Name, UID: pod.UID, Box: found.boxes[pod.UID], Refusal: refusal.message})
		}
	}
	if omitted := len(status.Pods) - modelv1.MaxPodDebuggerPods; omitted > 0 {
		status.Pods, status.PodsOmitted = status.Pods[:modelv1.MaxPodDebuggerPods], int32(omitted)
	}
	applied := applied(debugger, found)
	setConditions(&status, debugger.Generation, applied, ready(found, status.Pods, applied))
	return status
}

// setConditions sets both conditions of the generation, and that it was observed.
func setConditions(status *modelv1.PodDebuggerStatus, generation int64, applied, ready reconciler.Verdict) {
	status.ObservedGeneration = generation
	reconciler.SetCondition(&status.Conditions, generation, modelv1.ConditionReady, ready)
	reconciler.SetCondition(&status.Conditions, generation, modelv1.ConditionApplied, applied)
}

// stateOf returns the state of the pod's container, as far as it is known, without what only a node understands.
func stateOf(pod *corev1.Pod, container string) *corev1.ContainerState {
	for i := range pod.Status.EphemeralContainerStatuses {
		status := &pod.Status.EphemeralContainerStatuses[i]
		if status.Name != container {
			continue
		}
		state := status.State.DeepCopy()
		switch {
		case state.Terminated != nil:
			state.Terminated.ContainerID = ""
			state.Terminated.Message = message.Truncate(state.Terminated.Message)
		case state.Waiting != nil:
			state.Waiting.Message = message.Truncate(state.Waiting.Message)
		case state.Running == nil:
			state.Waiting = &corev1.ContainerStateWaiting{}
		}
		return state
	}
	return &corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{}}
}

// applied says whether every pod has the container that is to have it.
func applied(debugger *modelv1.PodDebugger, found *survey) reconciler.Verdict {
	if found.forbidden != "" {
		return reconciler.Verdict{Reason: modelv1.ReasonForbidden, Message: found.forbidden}
	}
	for _, pod := range found.chosen {
		if refusal, ok := found.refused[pod.UID]; ok {
			return reconciler.Verdict{Reason: refusal.reason, Message: refusal.message + andMore(len(found.refused)-1)}
		}
	}
	if len(found.chosen) > 0 {
		return reconciler.Verdict{Reason: modelv1.ReasonPending, Message: fmt.Sprintf("%s to get the container", pods(len(found.chosen)))}
	}
	return reconciler.Verdict{IsTrue: true, Reason: modelv1.ReasonApplied, Message: summaryOf(debugger, found)}
}

// summaryOf says how many pods have the container, and why no others.
func summaryOf(debugger *modelv1.PodDebugger, found *survey) string {
	summary := fmt.Sprintf("the container is in %s", pods(len(found.debugged)))
	switch maxPods := int(ptr.Deref(debugger.Spec.MaxPods, modelv1.DefaultPodDebuggerMaxPods)); {
	case found.isExpired:
		end := debugger.CreationTimestamp.Add(time.Duration(*debugger.Spec.TTLSecondsAfterCreation) * time.Second)
		return fmt.Sprintf("%s, and no other pod gets it since %s", summary, end.UTC().Format(time.RFC3339))
	case len(found.debugged) >= maxPods:
		return fmt.Sprintf("%s, which is as many as spec.maxPods allows", summary)
	default:
		return summary
	}
}

// ready says whether the containers were started as well. A pod that is not known to have started it is waiting.
func ready(found *survey, listed []modelv1.PodDebuggerPod, applied reconciler.Verdict) reconciler.Verdict {
	if !applied.IsTrue {
		return applied
	}
	var worst *modelv1.PodDebuggerPod
	waiting := 0
	for i := range listed {
		pod := &listed[i]
		if pod.State == nil || pod.State.Waiting == nil {
			continue
		}
		waiting++
		if worst == nil || worst.State.Waiting.Message == "" && pod.State.Waiting.Message != "" {
			worst = pod
		}
	}
	switch {
	case worst != nil:
		state := worst.State.Waiting
		text := fmt.Sprintf("pod %s: container %s is waiting to start", worst.Name, found.containerName)
		for _, detail := range []string{state.Reason, state.Message} {
			if detail != "" {
				text += ": " + detail
			}
		}
		return reconciler.Verdict{Reason: waitingReason(state.Reason), Message: text + andMore(waiting-1)}
	case found.isExpired:
		return reconciler.Verdict{IsTrue: true, Reason: modelv1.ReasonExpired, Message: applied.Message}
	default:
		return reconciler.Verdict{IsTrue: true, Reason: modelv1.ReasonReady, Message: applied.Message}
	}
}

// validReason is the pattern of metav1.Condition.
var validReason = regexp.MustCompile(`^[A-Za-z]([A-Za-z0-9_,:]{0,254}[A-Za-z0-9_])?$`)

// waitingReason returns the reason of a condition for the reason of a waiting container. It returns none for what every container
// waits for at first.
func waitingReason(reason string) string {
	if reason == "ContainerCreating" || reason == "PodInitializing" || !validReason.MatchString(reason) {
		return modelv1.ReasonContainerWaiting
	}
	return reason
}

// pods is "1 pod", or "2 pods".
func pods(count int) string {
	if count == 1 {
		return "1 pod"
	}
	return fmt.Sprintf("%d pods", count)
}

// andMore returns the end of a message about a pod, with the number of further pods like it.
func andMore(count int) string {
	if count <= 0 {
		return ""
	}
	return fmt.Sprintf(" (and %s more)", pods(count))
}
