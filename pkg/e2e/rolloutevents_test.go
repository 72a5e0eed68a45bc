// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"fmt"
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
)

// TestRolloutsAreToldOnce: changes of the Deployment that roll nothing out are no rollout, although its controller has to
// look at each of them.
func TestRolloutsAreToldOnce(t *testing.T) {
	t.Parallel()
	n := newNamespace(t)
	n.createReady(newBox("web"))
	n.awaitRollouts("web", 1)

	for i := range 4 {
		n.kubectl("annotate", "--overwrite", "deployment/web", fmt.Sprintf("example.com/round=%d", i))
		n.awaitReady("web")
	}
	n.change("web", withReplicas(2))
	n.awaitReadyCondition("web", metav1.ConditionTrue, modelv1.ReasonReady, "2 of 2 replicas")
	n.kubectl("delete", "pod", n.box("web").Status.PodNames[0])
	n.awaitReady("web")

	n.change("web", withImage(newImage))
	n.awaitReady("web")
	n.awaitRollouts("web", 2)
	n.kubectl("rollout", "restart", "deployment/web")
	n.awaitRollouts("web", 3)
}

// awaitRollouts waits until so many rollouts of the box have been told, and fails when there are more.
func (n *namespace) awaitRollouts(box string, want int) {
	n.t.Helper()
	n.eventually(fmt.Sprintf("%d rollouts are told", want), func() error {
		if got := n.timesTold(box, "RolloutComplete"); got < want {
			return fmt.Errorf("%d are", got)
		}
		return nil
	})
	expectEqual(n.t, "rollouts that are told", want, n.timesTold(box, "RolloutComplete"))
}

// timesTold returns how many events about the box have the reason; one of a series counts as often as it happened.
func (n *namespace) timesTold(box, reason string) int {
	n.t.Helper()
	times := 0
	for _, event := range n.eventsAbout(box) {
		switch {
		case event.Reason != reason:
		case event.Series != nil:
			times += int(event.Series.Count)
		default:
			times++
		}
	}
	return times
}

// TestPodFailuresAreToldOnce: once when they begin, once when they have ended.
func TestPodFailuresAreToldOnce(t *testing.T) {
	t.Parallel()
	n := newNamespace(t)
	n.createReady(newBox("web"))
	crashing := corev1.ContainerStatus{
		State:                corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "CrashLoopBackOff", Message: "back-off"}},
		LastTerminationState: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{Reason: "Error", ExitCode: 3}},
		RestartCount:         2,
	}
	failContainer(crashing)(n)
	n.awaitEvent("web", "CrashLoopBackOff", "container web: back-off", "exit code 3")
	again := crashing
	again.State = corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{Reason: "Error", ExitCode: 4}}
	failContainer(again)(n)
	n.awaitReadyCondition("web", metav1.ConditionFalse, "CrashLoopBackOff", "ended with exit code 4")

	n.kubectl("delete", "pod", n.box("web").Status.PodNames[0])
	n.awaitReady("web")
	n.awaitEvent("web", "PodsRecovered", "No pod fails any more because of CrashLoopBackOff")
	warnings := slices.DeleteFunc(n.eventsAbout("web"), func(event eventsv1.Event) bool { return event.Type != corev1.EventTypeWarning })
	if len(warnings) != 1 || warnings[0].Series != nil {
		t.Errorf("the warnings are %+v, want one", warnings)
	}
}
