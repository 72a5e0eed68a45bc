// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package modelbox

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
)

// newPods returns the pods of the new version.
func (s *stepsTest) newPods(t *testing.T) (found []*corev1.Pod) {
	t.Helper()
	for _, pod := range s.pods(t) {
		if pod.Spec.Containers[0].Image == "nginx:2" {
			found = append(found, pod)
		}
	}
	return found
}

// startPausedStep starts a rollout of nginx:2, whose first step lasts five minutes, and returns a minute after its pods were ready.
func startPausedStep(t *testing.T, row stepsRow, changes ...func(*modelv1.ModelBox)) *stepsTest {
	t.Helper()
	step := modelv1.ModelBoxRolloutStep{Pause: "5m"}
	if row.rolloutType == modelv1.RolloutCanary {
		step.Weight = 50
	}
	s := newStepsTest(t, row.rolloutType, []modelv1.ModelBoxRolloutStep{step}, append(row.changes, changes...)...)
	s.step(time.Minute) // All stable pods are available.
	s.changeBox(t, image("nginx:2"))
	s.runFor(t, time.Minute)
	if len(s.newPods(t)) == 0 || s.rollout(t).NextStepAt == nil {
		t.Fatalf("no step has begun its pause: %s", s.describe(t))
	}
	return s
}

// A new version that crashes after a minute fails while its step lasts.
func TestCrashInTheMiddleOfAStep(t *testing.T) {
	for _, row := range stepsRows {
		t.Run(row.name, func(t *testing.T) {
			for policy, phase := range failedPhases {
				s := startPausedStep(t, row, onFailure(policy))
				switch {
				case row.rolloutType == modelv1.RolloutBlueGreen:
				case len(s.weights(t)) > 1:
					s.serving = 0 // The route leads to the pods that crash until the server takes their share away.
				default:
					s.serving = s.desired(t) - len(s.newPods(t))
				}
				s.simulation.failing["nginx:2"] = crashing
				for _, pod := range s.newPods(t) {
					crashing(pod)
					s.simulation.update(t, pods, pod)
				}
				if s.runFor(t, 2*time.Minute); s.rollout(t).Phase != phase {
					t.Errorf("%s: the rollout is %s: %s", policy, s.rollout(t).Phase, s.describe(t))
				}
				if phase == modelv1.RolloutRolledBack {
					s.expectNoSteps(t, "nginx:1")
				}
			}
		})
	}
}

// crashing makes a pod crash again and again.
func crashing(pod *corev1.Pod) {
	pod.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionFalse, LastTransitionTime: pod.CreationTimestamp}}
	pod.Status.ContainerStatuses = []corev1.ContainerStatus{{
		Name: "web", RestartCount: 4,
		State:                corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "CrashLoopBackOff", Message: "back-off 1m20s restarting failed container"}},
		LastTerminationState: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{Reason: "Error", ExitCode: 1}},
	}}
}

// The pods of a node that is gone are created again, and the rollout continues.
func TestNodeGoneInTheMiddleOfAStep(t *testing.T) {
	for _, row := range stepsRows {
		t.Run(row.name, func(t *testing.T) {
			s := startPausedStep(t, row, onFailure(modelv1.RolloutFailureRollback))
			s.serving = s.desired(t) - 2
			ofNode := s.newPods(t)[:1]
			for _, pod := range s.pods(t) {
				if pod.Spec.Containers[0].Image == "nginx:1" {
					ofNode = append(ofNode, pod)
					break
				}
			}
			for _, pod := range ofNode {
				s.simulation.delete(t, pods, pod)
			}
			s.runFor(t, 10*time.Minute)
			s.expectComplete(t, "nginx:2")
		})
	}
}
