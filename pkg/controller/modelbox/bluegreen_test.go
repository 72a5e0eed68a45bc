// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package modelbox

import (
	"fmt"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
)

// traffic says how many pods there are, which pods the Service leads to, and with which weight the route leads to the candidate.
func (s *stepsTest) traffic(t *testing.T) string {
	t.Helper()
	image := s.deployment(t).Spec.Template.Spec.Containers[0].Image
	return strings.TrimSpace(fmt.Sprintf("%s %s to %s %s", s.numbers(t), image, s.serviceTarget(t), s.candidateShare(t)))
}

// serviceTarget says which pods the Service leads to.
func (s *stepsTest) serviceTarget(t *testing.T) string {
	t.Helper()
	selector := s.selector(t, "web")
	switch {
	case selector[modelv1.CandidateLabel] != "":
		return "candidate"
	case len(selector) > 1:
		return "stable"
	default:
		return "all"
	}
}

func (s *stepsTest) candidateShare(t *testing.T) string {
	t.Helper()
	if weight := s.weights(t)["web-canary"]; weight > 0 {
		return fmt.Sprint(weight)
	}
	return ""
}

func TestBlueGreen(t *testing.T) {
	s := newStepsTest(t, modelv1.RolloutBlueGreen, []modelv1.ModelBoxRolloutStep{{Pause: modelv1.PauseManual}})
	s.look = s.traffic
	s.changeBox(t, image("nginx:2"))
	s.run(t)
	before := []string{"4 nginx:1 to all", "4+4 nginx:1 to stable"}
	check(t, "before the switch", before, s.history)
	check(t, "weight", int32(0), *s.rollout(t).Weight)
	check(t, "pods in the status", []int32{8, 4, 8}, []int32{s.boxInServer(t).Status.Replicas, s.boxInServer(t).Status.UpdatedReplicas, s.boxInServer(t).Status.AvailableReplicas})
	s.promote(t)
	s.run(t)
	switched := append(before, "4+4 nginx:1 to candidate")
	check(t, "at the switch", switched, s.history)
	check(t, "requeue after", 10*time.Second, s.requeueAfter)
	s.runFor(t, 10*time.Second)
	after := append(switched, "4+4 nginx:2 to candidate", "4+4 nginx:2 to all")
	check(t, "after the switch", after, s.history)
	s.runToTheEnd(t)
	check(t, "in the end", append(after, "4 nginx:2 to all"), s.history)
	s.expectComplete(t, "nginx:2")
}

func TestCanaryWithARoute(t *testing.T) {
	s := newStepsTest(t, modelv1.RolloutCanary, twoSteps, routed)
	s.look = s.traffic
	s.changeBox(t, image("nginx:2"))
	s.run(t)
	history := []string{"4 nginx:1 to all", "4+1 nginx:1 to stable", "4+1 nginx:1 to stable 25"}
	check(t, "step 1", history, s.history)
	check(t, "weight", int32(25), *s.rollout(t).Weight)
	s.promote(t)
	s.run(t)
	history = append(history, "4+2 nginx:1 to stable 25", "4+2 nginx:1 to stable 50")
	check(t, "step 2", history, s.history)
	s.promote(t)
	s.run(t)
	history = append(history, "4+2 nginx:1 to all")
	check(t, "at the switch", history, s.history)
	s.runFor(t, 10*time.Second)
	history = append(history, "4+2 nginx:2 to all", "4 nginx:2 to all")
	check(t, "the end", history, s.history)
	s.expectComplete(t, "nginx:2")
}

// A candidate that has all of the traffic keeps it until the Deployment has the new revision.
func TestCanaryOfAllPodsWithARoute(t *testing.T) {
	switched := []string{"4+4 nginx:1 to candidate 100", "4+4 nginx:2 to candidate", "4+4 nginx:2 to all", "4 nginx:2 to all"}
	for _, row := range []struct {
		name    string
		promote func(t *testing.T, s *stepsTest)
		want    []string
	}{
		{"step by step", func(t *testing.T, s *stepsTest) {
			s.promote(t)
			s.run(t)
			s.promote(t)
		}, []string{"4+4 nginx:1 to stable 25", "4+4 nginx:1 to stable 100"}},
		{"at once", func(t *testing.T, s *stepsTest) {
			s.testController.update(t, func(box *modelv1.ModelBox) {
				box.Status.Rollout.Step, box.Status.Rollout.NextStepAt = ptr.To[int32](3), nil
			})
		}, []string{"4+4 nginx:1 to stable 25"}},
	} {
		t.Run(row.name, func(t *testing.T) {
			s := newStepsTest(t, modelv1.RolloutCanary, allSteps, routed)
			s.changeBox(t, image("nginx:2"))
			s.run(t)
			s.history, s.look = nil, s.traffic
			row.promote(t, s)
			s.runToTheEnd(t)
			check(t, "history", append(row.want, switched...), s.history)
			s.expectComplete(t, "nginx:2")
		})
	}
}

// A Deployment that has the new revision keeps it, whatever the steps are then.
func TestLowerWeightAfterTheSwitch(t *testing.T) {
	s := newStepsTest(t, modelv1.RolloutCanary, allSteps, routed)
	s.changeBox(t, image("nginx:2"))
	s.run(t)
	for range allSteps {
		s.promote(t)
		s.run(t)
	}
	s.runFor(t, 10*time.Second)
	s.history, s.look = nil, s.traffic
	s.changeBox(t, func(spec *modelv1.ModelBoxSpec) { spec.Rollout.Steps = twoSteps })
	s.runToTheEnd(t)
	check(t, "history", []string{"4+2 nginx:2 to all", "4 nginx:2 to all"}, s.history)
	s.expectComplete(t, "nginx:2")
}

// On the way back, the candidate no longer has traffic when its pods are deleted.
func TestWayBackOfACanaryWithARoute(t *testing.T) {
	s := newStepsTest(t, modelv1.RolloutCanary, twoSteps, routed)
	s.changeBox(t, image("nginx:2"))
	s.run(t)
	s.history, s.look = nil, s.traffic
	s.changeBox(t, image("nginx:1"))
	s.run(t)
	check(t, "at first", []string{"4+1 nginx:1 to stable"}, s.history)
	s.runToTheEnd(t)
	check(t, "in the end", []string{"4+1 nginx:1 to stable", "4 nginx:1 to stable", "4 nginx:1 to all"}, s.history)
	s.expectComplete(t, "nginx:1")
}

func TestWayBackAfterTheSwitch(t *testing.T) {
	s := newStepsTest(t, modelv1.RolloutBlueGreen, nil)
	s.look = s.traffic
	s.changeBox(t, image("nginx:2"))
	for range 50 {
		if s.isIdle(t) {
			s.step(s.requeueAfter)
		}
		if strings.HasSuffix(s.traffic(t), "nginx:2 to candidate") {
			break
		}
	}
	s.work(t)
	s.history = nil
	s.changeBox(t, image("nginx:1"))
	s.runToTheEnd(t)
	check(t, "history", []string{"4+4 nginx:1 to candidate", "4+4 nginx:1 to stable", "4 nginx:1 to stable", "4 nginx:1 to all"}, s.history)
	s.expectComplete(t, "nginx:1")
}

// failedPhases are the phases of rollouts that have failed, by spec.rollout.onFailure.
var failedPhases = map[modelv1.RolloutFailurePolicy]modelv1.RolloutPhase{
	modelv1.RolloutFailureNone:     modelv1.RolloutFailed,
	modelv1.RolloutFailurePause:    modelv1.RolloutPaused,
	modelv1.RolloutFailureRollback: modelv1.RolloutRolledBack,
}

// Pods that fail in a step are pods of the new revision, and the stable pods do not change.
func TestFailureInSteps(t *testing.T) {
	for _, row := range stepsRows {
		for _, policy := range []modelv1.RolloutFailurePolicy{modelv1.RolloutFailureNone, modelv1.RolloutFailurePause, modelv1.RolloutFailureRollback} {
			t.Run(fmt.Sprintf("%s, %s", row.name, policy), func(t *testing.T) {
				s := newStepsTest(t, row.rolloutType, row.steps, append(row.changes, onFailure(policy))...)
				s.changeBox(t, badVersion)
				s.runToTheEnd(t)
				rollout := s.rollout(t)
				check(t, "reason", "ImagePullBackOff", rollout.Reason)
				check(t, "failed revisions", 1, len(rollout.FailedRevisions))
				check(t, "phase", failedPhases[policy], rollout.Phase)
				if policy == modelv1.RolloutFailureRollback {
					s.expectNoSteps(t, "nginx:1")
				} else {
					check(t, "step", ptr.To[int32](1), rollout.Step)
				}
				s.startAnother(t)
				check(t, "writes of another controller", 0, len(s.reconcileOnce(t)))
				s.changeBox(t, image("nginx:2"))
				s.runToTheEnd(t)
				s.expectComplete(t, "nginx:2")
			})
		}
	}
}

// A rollout in steps begins although stable pods fail, because it may be the repair.
func TestStepsFromPodsThatFail(t *testing.T) {
	for _, row := range stepsRows[1:3] { // These lead the traffic to the stable pods first.
		t.Run(row.name, func(t *testing.T) {
			s := newStepsTest(t, row.rolloutType, row.steps, row.changes...)
			s.serving = 0
			s.failPods(t, 4)
			s.run(t)
			s.changeBox(t, image("nginx:2"))
			s.runToTheEnd(t)
			s.expectComplete(t, "nginx:2")
		})
	}
}

// failPods makes that number of pods fail.
func (s *stepsTest) failPods(t *testing.T, count int) {
	t.Helper()
	for _, pod := range s.pods(t)[:count] {
		s.failPod(t, pod)
	}
}

func (s *stepsTest) failPod(t *testing.T, pod *corev1.Pod) {
	t.Helper()
	pod.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionFalse, LastTransitionTime: metav1.NewTime(s.rolloutTest.clock.Now())}}
	pod.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: "web"}}
	s.simulation.update(t, pods, pod)
}
