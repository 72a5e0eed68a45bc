// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package modelbox

import (
	"fmt"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/helper"
	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	modelboxrender "github.com/sharelinuxs/modelbox-apiserver/pkg/render/modelbox"
)

// rollBackImmediately changes the box as the subresource rollback does with immediate: true.
func (s *stepsTest) rollBackImmediately(t *testing.T, change func(*modelv1.ModelBoxSpec)) {
	t.Helper()
	s.testController.update(t, func(box *modelv1.ModelBox) {
		change(&box.Spec)
		box.Generation++
		hash, err := modelboxrender.PodsHash(box)
		if err != nil {
			t.Fatal(err)
		}
		last, asked := box.Status.Rollout, box.Spec.Rollout
		if asked.Type == nil || hash == last.Stable.PodsHash {
			return
		}
		box.Status.Rollout = &modelv1.ModelBoxRolloutStatus{
			Phase: modelv1.RolloutProgressing, PodsHash: hash, StartedAt: metav1.NewTime(s.rolloutTest.clock.Now()), Step: ptr.To(helper.StepCount(len(asked.Steps)) + 1),
			Stable: last.Stable, FailedRevisions: last.FailedRevisions, Candidate: last.Candidate, Traffic: last.Traffic, Jobs: last.Jobs,
		}
	})
}

// wholly says which pods there are, and where the traffic goes.
func (s *stepsTest) wholly(t *testing.T) string {
	t.Helper()
	if s.rolloutTest.kind != modelv1.WorkloadDeployment {
		return s.images(t)
	}
	return s.traffic(t)
}

// An immediate rollback is a rollout without steps: no candidate gets a share, and nothing waits for a pause.
func TestImmediateRollback(t *testing.T) {
	for _, row := range []struct {
		name        string
		rolloutType modelv1.RolloutType
		steps       []modelv1.ModelBoxRolloutStep
		changes     []func(*modelv1.ModelBox)
		want        []string
	}{
		{"canary", modelv1.RolloutCanary, twoSteps, nil, []string{"4 nginx:1 to all", "4 nginx:0 to all"}},
		{"canary with a route", modelv1.RolloutCanary, twoSteps, []func(*modelv1.ModelBox){routed}, []string{"4 nginx:1 to all", "4 nginx:0 to all"}},
		{"blue-green", modelv1.RolloutBlueGreen, []modelv1.ModelBoxRolloutStep{{Pause: modelv1.PauseManual}}, []func(*modelv1.ModelBox){routed},
			[]string{"4 nginx:1 to all", "4+4 nginx:1 to stable", "4+4 nginx:1 to candidate", "4+4 nginx:0 to candidate", "4+4 nginx:0 to all", "4 nginx:0 to all"}},
		{"blue-green without traffic", modelv1.RolloutBlueGreen, []modelv1.ModelBoxRolloutStep{{Pause: modelv1.PauseManual}}, []func(*modelv1.ModelBox){portless},
			[]string{"4 nginx:1 to all", "4 nginx:0 to all"}},
		{"canary of a StatefulSet", modelv1.RolloutCanary, twoSteps, []func(*modelv1.ModelBox){stateful},
			[]string{"4 of nginx:1", "3 of nginx:1", "1 of nginx:0, 2 of nginx:1", "2 of nginx:0, 1 of nginx:1", "3 of nginx:0", "4 of nginx:0"}},
	} {
		t.Run(row.name, func(t *testing.T) {
			s := newStepsTest(t, row.rolloutType, row.steps, row.changes...)
			s.look = s.wholly
			s.reconcileOnce(t)
			s.rollBackImmediately(t, image("nginx:0"))
			s.runFor(t, 30*time.Second)
			s.expectComplete(t, "nginx:0")
			check(t, "history", row.want, s.history)
			check(t, "events about steps", 0, len(toldOf(s.told(), "RolloutStep")))
		})
	}
}

// No step of an immediate rollback has its checks measured.
func TestImmediateRollbackWithoutChecks(t *testing.T) {
	s, prometheus := newStepChecksTest(t, twoSteps)
	s.rollBackImmediately(t, image("nginx:0"))
	s.runFor(t, time.Hour)
	s.expectComplete(t, "nginx:0")
	check(t, "queries", 0, len(prometheus.queries))
}

// The candidate of a rollout that an immediate rollback ends makes room, and its clients are served all the time.
func TestImmediateRollbackInTheMiddleOfSteps(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes long")
	}
	for _, row := range stepsRows {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			for turns, isOver := 0, false; !isOver; turns += 2 {
				s := newStepsTest(t, row.rolloutType, row.steps, row.changes...)
				s.changeBox(t, image("nginx:2"))
				for range turns {
					isOver = s.turn(t)
				}
				s.history, s.look, s.startsAnew = nil, s.wholly, turns%4 == 0
				s.rollBackImmediately(t, image("nginx:0"))
				s.runFor(t, 90*time.Second)
				if s.rollout(t).Phase == modelv1.RolloutComplete {
					s.expectComplete(t, "nginx:0")
				} else {
					t.Errorf("the rollback is not complete: %s", s.describe(t))
				}
				if t.Failed() || turns > 100 {
					t.Fatalf("after %d turns: %q", turns, s.history)
				}
			}
		})
	}
}

// turn lets the cluster and the controller work once, ends a step if they have nothing to do, and returns whether the rollout is over.
func (s *stepsTest) turn(t *testing.T) bool {
	t.Helper()
	if !s.isIdle(t) {
		return false
	}
	switch rollout := s.rollout(t); {
	case rollout.Phase == modelv1.RolloutComplete:
		return true
	case s.requeueAfter > 0 && s.requeueAfter < time.Minute:
		s.step(s.requeueAfter)
	default:
		s.promote(t)
	}
	return false
}

// A candidate of a former revision goes in the order in which the traffic allows it.
func TestImmediateRollbackBesideACandidate(t *testing.T) {
	for _, row := range []struct {
		name        string
		rolloutType modelv1.RolloutType
		changes     []func(*modelv1.ModelBox)
		want        []string
	}{
		{"canary", modelv1.RolloutCanary, nil, []string{"4+1 nginx:1 to all", "4 nginx:0 to all"}},
		{"canary with a route", modelv1.RolloutCanary, []func(*modelv1.ModelBox){routed},
			[]string{"4+1 nginx:1 to stable", "4 nginx:1 to stable", "4 nginx:1 to all", "4 nginx:0 to all"}},
	} {
		t.Run(row.name, func(t *testing.T) {
			s := newStepsTest(t, row.rolloutType, twoSteps, row.changes...)
			s.changeBox(t, image("nginx:2"))
			s.run(t)
			s.history, s.look = nil, s.wholly
			s.rollBackImmediately(t, image("nginx:0"))
			s.runFor(t, 30*time.Second)
			s.expectComplete(t, "nginx:0")
			check(t, "history", row.want, s.history)
		})
	}
}

// A rollback cannot wait for stable pods that fail.
func TestImmediateRollbackFromPodsThatFail(t *testing.T) {
	for _, row := range stepsRows[:3] { // A StatefulSet replaces one pod after the other.
		t.Run(row.name, func(t *testing.T) {
			for _, failing := range []int{1, 4} {
				s := newStepsTest(t, row.rolloutType, row.steps, row.changes...)
				s.serving = 0
				s.failPods(t, failing)
				s.run(t)
				s.rollBackImmediately(t, image("nginx:0"))
				s.runFor(t, 30*time.Second)
				s.expectComplete(t, "nginx:0")
			}
		})
	}
}

// New pods that fail make the rollout fail, like the pods of any other rollout.
func TestImmediateRollbackThatFails(t *testing.T) {
	for _, row := range stepsRows {
		for _, isInSteps := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, in steps %t", row.name, isInSteps), func(t *testing.T) {
				s := newStepsTest(t, row.rolloutType, row.steps, append(row.changes, onFailure(modelv1.RolloutFailureRollback))...)
				if isInSteps {
					s.changeBox(t, image("nginx:2"))
					s.run(t)
				}
				s.rollBackImmediately(t, badVersion)
				s.runFor(t, 2*time.Minute)
				check(t, "phase", modelv1.RolloutRolledBack, s.rollout(t).Phase)
				s.expectNoSteps(t, "nginx:1")
			})
		}
	}
}

func TestImmediateRollbackOfNoPods(t *testing.T) {
	for _, row := range stepsRows {
		t.Run(row.name, func(t *testing.T) {
			s := newStepsTest(t, row.rolloutType, row.steps, row.changes...)
			s.serving = 0
			s.changeBox(t, func(spec *modelv1.ModelBoxSpec) { spec.Replicas = ptr.To[int32](0) })
			s.run(t)
			s.rollBackImmediately(t, image("nginx:0"))
			s.runFor(t, time.Minute)
			check(t, "phase", modelv1.RolloutComplete, s.rollout(t).Phase)
			s.expectNoPods(t)
		})
	}
}
