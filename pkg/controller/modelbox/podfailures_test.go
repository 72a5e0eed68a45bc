// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package modelbox

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
)

func TestWorstFailure(t *testing.T) {
	crashed := func(pod *corev1.Pod) {
		waiting("app", "CrashLoopBackOff", "back-off 10s restarting failed container")(pod)
		status := &pod.Status.ContainerStatuses[0]
		status.RestartCount = 4
		status.LastTerminationState.Terminated = &corev1.ContainerStateTerminated{ExitCode: 137}
	}
	unscheduled := func(pod *corev1.Pod) {
		pod.Status.Conditions = []corev1.PodCondition{{
			Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Reason: corev1.PodReasonUnschedulable, Message: "0/3 nodes are available",
		}}
	}
	gated := func(pod *corev1.Pod) {
		pod.Status.Conditions = []corev1.PodCondition{{
			Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Reason: corev1.PodReasonSchedulingGated, Message: "waiting for gates",
		}}
	}
	initWaiting := func(pod *corev1.Pod) {
		pod.Status.InitContainerStatuses = []corev1.ContainerStatus{{
			Name: "prepare", State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "ErrImagePull", Message: "not found"}},
		}}
	}

	for _, row := range []struct {
		name string
		pods []*corev1.Pod
		want *podFailure
	}{
		{"no pods do not fail", nil, nil},
		{"a running pod does not fail", []*corev1.Pod{newPod("web-1")}, nil},
		{"a container that is being created does not fail", []*corev1.Pod{newPod("web-1", waiting("app", "ContainerCreating", ""))}, nil},
		{"a container that waits for an init container does not fail", []*corev1.Pod{newPod("web-1", waiting("app", "PodInitializing", ""))}, nil},
		{"a container that has ended does not fail", []*corev1.Pod{newPod("web-1", func(pod *corev1.Pod) {
			pod.Status.InitContainerStatuses = []corev1.ContainerStatus{{State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{}}}}
		})}, nil},
		{"an image that cannot be pulled", []*corev1.Pod{newPod("web-1", waiting("app", "ImagePullBackOff", "no such image"))},
			&podFailure{"ImagePullBackOff", "pod web-1, container app: no such image"}},
		{"a reason without a message is its own message", []*corev1.Pod{newPod("web-1", waiting("app", "ErrImagePull", ""))},
			&podFailure{"ErrImagePull", "pod web-1, container app: ErrImagePull"}},
		{"a crash has its exit code", []*corev1.Pod{newPod("web-1", crashed)},
			&podFailure{"CrashLoopBackOff", "pod web-1, container app: back-off 10s restarting failed container; restarted 4 times, last exit code 137"}},
		{"a container beside the main one", []*corev1.Pod{newPod("web-1", waiting("proxy", "InvalidImageName", "bad name"))},
			&podFailure{"InvalidImageName", "pod web-1, container proxy: bad name"}},
		{"an init container holds up the others", []*corev1.Pod{newPod("web-1", initWaiting, waiting("app", "PodInitializing", ""))},
			&podFailure{"ErrImagePull", "pod web-1, container prepare: not found"}},
		{"a pod that no node takes", []*corev1.Pod{newPod("web-1", unscheduled)},
			&podFailure{"Unschedulable", "pod web-1: 0/3 nodes are available"}},
		{"a reason that is not in the order is told when there is no other", []*corev1.Pod{newPod("web-1", gated)},
			&podFailure{"SchedulingGated", "pod web-1: waiting for gates"}},
		{"a reason that is not in the order comes last", []*corev1.Pod{newPod("web-1", gated), newPod("web-2", unscheduled)},
			&podFailure{"Unschedulable", "pod web-2: 0/3 nodes are available"}},
		{"what does not go away by waiting comes first", []*corev1.Pod{
			newPod("web-1", unscheduled), newPod("web-2", crashed), newPod("web-3", waiting("app", "CreateContainerConfigError", "no such secret"))},
			&podFailure{"CreateContainerConfigError", "pod web-3, container app: no such secret"}},
		{"the worst container of a pod", []*corev1.Pod{newPod("web-1", waiting("a", "CrashLoopBackOff", "back-off"), waiting("b", "InvalidImageName", "bad name"))},
			&podFailure{"InvalidImageName", "pod web-1, container b: bad name"}},
		{"a pod that a scheduler without a word does not take", []*corev1.Pod{newPod("web-1", func(pod *corev1.Pod) {
			pod.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Message: "no"}}
		})}, &podFailure{"Unschedulable", "pod web-1: no"}},
		{"the first pod of several with the same failure", []*corev1.Pod{
			newPod("web-1"), newPod("web-2", waiting("app", "ErrImagePull", "two")), newPod("web-3", waiting("app", "ErrImagePull", "three"))},
			&podFailure{"ErrImagePull", "pod web-2, container app: two"}},
	} {
		t.Run(row.name, func(t *testing.T) {
			if diff := cmp.Diff(row.want, worstFailure(row.pods), cmp.AllowUnexported(podFailure{})); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}
