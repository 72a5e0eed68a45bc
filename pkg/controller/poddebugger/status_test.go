// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package poddebugger

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/types"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
)

func TestReady(t *testing.T) {
	running := corev1.ContainerState{Running: &corev1.ContainerStateRunning{}}
	ended := corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: 3, Reason: "Error", ContainerID: "containerd://1"}}
	waiting := func(reason, message string) corev1.ContainerState {
		return corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: reason, Message: message}}
	}
	type pods = []*corev1.Pod
	for _, row := range []struct {
		name   string
		change func(*modelv1.PodDebugger)
		found  survey
		want   string
	}{
		{"no pod", nil, survey{}, "True Ready: the container is in 0 pods"},
		{"one that runs", nil, survey{debugged: pods{newPod("a", 1, debugged(running))}}, "True Ready: the container is in 1 pod"},
		{"one that has ended", nil, survey{debugged: pods{newPod("a", 1, debugged(ended))}}, "True Ready: the container is in 1 pod"},
		{"as many as there may be", withMaxPods(1), survey{debugged: pods{newPod("a", 1, debugged(running))}},
			"True Ready: the container is in 1 pod, which is as many as spec.maxPods allows"},
		{"no further ones", withTime(60), survey{isExpired: true, debugged: pods{newPod("a", 1, debugged(running))}},
			"True Expired: the container is in 1 pod, and no other pod gets it since 2026-01-02T03:05:05Z"},
		{"one of which nothing is known", nil, survey{debugged: pods{newPod("a", 1, debugged())}},
			"False ContainerWaiting: pod a: container " + containerName + " is waiting to start"},
		{"one that is being created", nil, survey{debugged: pods{newPod("a", 1, debugged(waiting("ContainerCreating", "")))}},
			"False ContainerWaiting: pod a: container " + containerName + " is waiting to start: ContainerCreating"},
		{"one without an image, and one that says nothing", nil,
			survey{debugged: pods{newPod("a", 1, debugged()), newPod("b", 1, debugged(waiting("ImagePullBackOff", "no such image")))}},
			"False ImagePullBackOff: pod b: container " + containerName + " is waiting to start: ImagePullBackOff: no such image (and 1 pod more)"},
		{"a reason that no condition may have", nil, survey{debugged: pods{newPod("a", 1, debugged(waiting("no idea", "")))}},
			"False ContainerWaiting: pod a: container " + containerName + " is waiting to start: no idea"},
		{"one that is about to get it", nil, survey{chosen: pods{newPod("a", 1)}}, "False Pending: 1 pod to get the container"},
		{"one that was refused", nil, survey{chosen: pods{newPod("a", 1), newPod("b", 1)}, refused: map[types.UID]refusal{
			"a-uid": {reason: "Forbidden", message: "no"}, "b-uid": {reason: "Invalid", message: "never"},
		}}, "False Forbidden: no (and 1 pod more)"},
		{"a server without the right", nil, survey{forbidden: "may not", chosen: pods{newPod("a", 1)}}, "False Forbidden: may not"},
	} {
		t.Run(row.name, func(t *testing.T) {
			if row.change == nil {
				row.change = func(*modelv1.PodDebugger) {}
			}
			row.found.containerName = containerName
			status := statusOf(newDebugger(row.change), &row.found)
			ready := meta.FindStatusCondition(status.Conditions, modelv1.ConditionReady)
			if got := string(ready.Status) + " " + ready.Reason + ": " + ready.Message; got != row.want {
				t.Errorf("got  %s\nwant %s", got, row.want)
			}
		})
	}
	status := statusOf(newDebugger(), &survey{containerName: containerName, debugged: pods{newPod("a", 1, debugged(running)), newPod("b", 1, debugged(ended))}})
	check(t, "running pods", int32(1), status.RunningPods)
	ended.Terminated.ContainerID = ""
	check(t, "pods", []modelv1.PodDebuggerPod{{Name: "a", UID: "a-uid", State: &running}, {Name: "b", UID: "b-uid", State: &ended}}, status.Pods)
}

func TestStatusIsBounded(t *testing.T) {
	found := &survey{containerName: containerName}
	for range 150 {
		found.debugged = append(found.debugged, newPod("a", 1, debugged(corev1.ContainerState{
			Waiting: &corev1.ContainerStateWaiting{Message: strings.Repeat("x", 1<<20)},
		})))
	}
	status := statusOf(newDebugger(), found)
	check(t, "pods", 100, len(status.Pods))
	check(t, "omitted pods", int32(50), status.PodsOmitted)
	check(t, "debugged pods", int32(150), status.DebuggedPods)
	if size := status.Size(); size > 256<<10 {
		t.Errorf("the status has %d bytes", size)
	}
}
