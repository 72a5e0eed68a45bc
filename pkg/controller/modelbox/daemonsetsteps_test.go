// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package modelbox

import (
	"fmt"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
)

func (s *stepsTest) daemonSet(t *testing.T) *appsv1.DaemonSet {
	t.Helper()
	set, err := s.cluster.AppsV1().DaemonSets("default").Get(t.Context(), "web", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return set
}

func TestCanaryOfADaemonSet(t *testing.T) {
	s := newStepsTest(t, modelv1.RolloutCanary, twoSteps, daemonic)
	s.look = func(t *testing.T) string {
		return string(s.daemonSet(t).Spec.UpdateStrategy.Type) + ": " + s.images(t)
	}
	s.changeBox(t, image("nginx:2"))
	s.run(t)
	check(t, "weight in step 1", int32(25), *s.rollout(t).Weight)
	s.runFor(t, 5*time.Minute)
	check(t, "weight in step 2", int32(50), *s.rollout(t).Weight)
	s.runFor(t, time.Hour) // A pause is no missed deadline.
	check(t, "phase", modelv1.RolloutProgressing, s.rollout(t).Phase)
	s.promote(t)
	s.run(t)
	check(t, "nodes", []string{
		"OnDelete: 4 of nginx:1",
		"OnDelete: 3 of nginx:1",
		"OnDelete: 3 of nginx:1, 1 of nginx:2",
		"OnDelete: 2 of nginx:1, 1 of nginx:2",
		"OnDelete: 2 of nginx:1, 2 of nginx:2",
		"RollingUpdate: 2 of nginx:1, 2 of nginx:2",
		"RollingUpdate: 1 of nginx:1, 2 of nginx:2",
		"RollingUpdate: 3 of nginx:2",
		"RollingUpdate: 4 of nginx:2",
	}, s.history)
	s.expectComplete(t, "nginx:2")
}

func TestCanaryOfADaemonSetIsAsFastAsItsLimit(t *testing.T) {
	s := newStepsTest(t, modelv1.RolloutCanary, twoSteps, daemonic, func(box *modelv1.ModelBox) {
		box.Spec.RollingUpdate = &modelv1.RollingUpdate{Type: modelv1.RollingUpdateInt, IntVal: 2}
	})
	s.nodes = 8
	s.run(t)
	s.serving = 6
	s.look = s.images
	s.changeBox(t, image("nginx:2"))
	s.runFor(t, 5*time.Minute)
	check(t, "nodes", []string{
		"8 of nginx:1", "7 of nginx:1", "6 of nginx:1", "6 of nginx:1, 1 of nginx:2", "6 of nginx:1, 2 of nginx:2",
		"5 of nginx:1, 2 of nginx:2", "4 of nginx:1, 2 of nginx:2", "4 of nginx:1, 3 of nginx:2", "4 of nginx:1, 4 of nginx:2",
	}, s.history)
}

func TestFailingCanaryOfADaemonSet(t *testing.T) {
	for _, row := range []struct {
		name   string
		policy modelv1.RolloutFailurePolicy
		// images are the images of the ready pods in the end.
		images string
		phase  modelv1.RolloutPhase
	}{
		{"no reaction", modelv1.RolloutFailureNone, "3 of nginx:1", modelv1.RolloutFailed},
		{"a pause", modelv1.RolloutFailurePause, "3 of nginx:1", modelv1.RolloutPaused},
		{"a rollback", modelv1.RolloutFailureRollback, "4 of nginx:1", modelv1.RolloutRolledBack},
	} {
		t.Run(row.name, func(t *testing.T) {
			s := newStepsTest(t, modelv1.RolloutCanary, twoSteps, daemonic, onFailure(row.policy))
			s.changeBox(t, image("nginx:bad"))
			s.runFor(t, time.Minute)
			check(t, "phase", row.phase, s.rollout(t).Phase)
			check(t, "images", row.images, s.images(t))

			s.changeBox(t, image("nginx:2"))
			s.run(t)
			check(t, "images in step 1 of the next version", "3 of nginx:1, 1 of nginx:2", s.images(t))
			s.runToTheEnd(t)
			s.expectComplete(t, "nginx:2")
		})
	}
}

// A candidate that fails on more nodes than the first step of the next version has would keep that version from its second step.
func TestFormerCandidateOfADaemonSetIsReplaced(t *testing.T) {
	s := newStepsTest(t, modelv1.RolloutCanary, twoSteps, daemonic)
	s.changeBox(t, image("nginx:2"))
	s.run(t)
	s.promote(t)
	s.run(t)
	check(t, "images in step 2", "2 of nginx:1, 2 of nginx:2", s.images(t))
	s.serving = 1
	for _, pod := range s.pods(t) {
		if pod.Spec.Containers[0].Image == "nginx:2" {
			s.failPod(t, pod)
		}
	}
	s.changeBox(t, image("nginx:3"))
	s.run(t)
	check(t, "images in step 1 of the next version", "2 of nginx:1, 2 of nginx:3", s.images(t))
	check(t, "step", int32(1), *s.rollout(t).Step)
	s.runToTheEnd(t)
	s.expectComplete(t, "nginx:3")
}

func TestChecksOfADaemonSet(t *testing.T) {
	s, prometheus := newStepChecksTest(t, []modelv1.ModelBoxRolloutStep{{Weight: 25}}, daemonic, func(box *modelv1.ModelBox) {
		box.Spec.Rollout.OnFailure = modelv1.RolloutFailureRollback
	})
	s.changeBox(t, func(spec *modelv1.ModelBoxSpec) {
		spec.Image = "nginx:2"
		spec.Rollout.Checks[0].Prometheus.Query = `sum(errors{hash="{{canary}}"}) - sum(errors{hash="{{stable}}"})`
	})
	s.run(t)
	hash := map[string]string{}
	for _, pod := range s.pods(t) {
		hash[pod.Spec.Containers[0].Image] = pod.Labels[appsv1.DefaultDaemonSetUniqueLabelKey]
	}
	check(t, "queries", []string{
		fmt.Sprintf(`sum(errors{hash="%s",namespace="default"}) - sum(errors{hash="%s",namespace="default"})`, hash["nginx:2"], hash["nginx:1"]),
	}, prometheus.queries)
	prometheus.answer(2, nil)
	s.runFor(t, time.Minute)
	check(t, "phase", modelv1.RolloutRolledBack, s.rollout(t).Phase)
	check(t, "failed revision", "web-"+hash["nginx:2"], s.rollout(t).FailedRevisions[0].Name)
	check(t, "images", "4 of nginx:1", s.images(t))
}
