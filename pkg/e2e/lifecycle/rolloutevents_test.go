// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"fmt"
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/e2e/framework"
)

// TestRolloutIsReportedOnce checks that changes of the Deployment that replace no pods are not reported as rollouts.
func TestRolloutIsReportedOnce(t *testing.T) {
	t.Parallel()
	n := framework.NewNamespace(t)
	n.CreateReadyBox(framework.NewBox("web"))
	awaitRollouts(n, "web", 1)

	for i := range 4 {
		n.Kubectl.Run("annotate", "--overwrite", "deployment/web", fmt.Sprintf("example.com/round=%d", i))
		n.AwaitReady("web")
	}
	n.UpdateBox("web", framework.WithReplicas(2))
	n.AwaitReadyCondition("web", metav1.ConditionTrue, modelv1.ReasonReady, "2 of 2 replicas")
	n.Kubectl.Run("delete", "pod", n.GetBox("web").Status.PodNames[0])
	n.AwaitReady("web")

	n.UpdateBox("web", framework.WithImage(framework.NewImage))
	n.AwaitReady("web")
	awaitRollouts(n, "web", 2)
	n.Kubectl.Run("rollout", "restart", "deployment/web")
	awaitRollouts(n, "web", 3)
}

// awaitRollouts waits for events about a number of rollouts of the box. It fails the test if there are more.
func awaitRollouts(n *framework.Namespace, box string, want int) {
	n.T.Helper()
	n.Eventually(fmt.Sprintf("%d rollouts are reported", want), func() error {
		if got := timesTold(n, box, "RolloutComplete"); got < want {
			return fmt.Errorf("%d are", got)
		}
		return nil
	})
	framework.ExpectEqual(n.T, "reported rollouts", want, timesTold(n, box, "RolloutComplete"))
}

// timesTold returns the number of events about the box with the reason, including the counts of series.
func timesTold(n *framework.Namespace, box, reason string) int {
	n.T.Helper()
	times := 0
	for _, event := range n.Events.About(box) {
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

// TestPodFailureIsReportedOnce expects one event at the start of failures, and one event at their end.
func TestPodFailureIsReportedOnce(t *testing.T) {
	t.Parallel()
	n := framework.NewNamespace(t)
	n.CreateReadyBox(framework.NewBox("web"))
	crashing := corev1.ContainerStatus{
		State:                corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "CrashLoopBackOff", Message: "back-off"}},
		LastTerminationState: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{Reason: "Error", ExitCode: 3}},
		RestartCount:         2,
	}
	failContainer(crashing)(n)
	n.Events.Await("web", "CrashLoopBackOff", "container web: back-off", "exit code 3")
	again := crashing
	again.State = corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{Reason: "Error", ExitCode: 4}}
	failContainer(again)(n)
	n.AwaitReadyCondition("web", metav1.ConditionFalse, "CrashLoopBackOff", "ended with exit code 4")

	n.Kubectl.Run("delete", "pod", n.GetBox("web").Status.PodNames[0])
	n.AwaitReady("web")
	n.Events.Await("web", "PodsRecovered", "Pods recovered from CrashLoopBackOff")
	warnings := slices.DeleteFunc(n.Events.About("web"), func(event eventsv1.Event) bool { return event.Type != corev1.EventTypeWarning })
	if len(warnings) != 1 || warnings[0].Series != nil {
		t.Errorf("the warnings are %+v, want one", warnings)
	}
}
