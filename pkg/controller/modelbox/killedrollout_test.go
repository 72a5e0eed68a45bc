// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package modelbox

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	clienttesting "k8s.io/client-go/testing"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/fixture"
)

const (
	// killsVariable is the environment variable with how often TestKilledControllerKeepsRollouts kills the controller.
	killsVariable = "MODELBOX_TEST_KILLS"
	defaultKills  = 40
)

var errKilled = errors.New("the controller was killed")

// killer kills a controller at one of its writes: none of its later requests reaches a server.
type killer struct {
	// at is the number of the write, from 1, and 0 for none. isAfter lets that write reach its server.
	at      int
	isAfter bool

	// isDead says that the controller is killed, and hasKilled that one was.
	isAtWork, isDead, hasKilled bool
	// writes is the number of writes so far, and childWrites is the number of writes to children.
	writes, childWrites int
}

// react is a reaction of each client of the controller.
func (k *killer) react(action clienttesting.Action) (bool, runtime.Object, error) {
	switch verb := action.GetVerb(); {
	case !k.isAtWork:
		return false, nil, nil
	case k.isDead:
		return true, nil, errKilled
	case verb == "get" || verb == "list" || verb == "watch":
		return false, nil, nil
	}
	k.writes++
	if k.isDead = k.writes == k.at; k.isDead && !k.isAfter {
		return true, nil, errKilled
	}
	if action.GetResource().Resource != "modelboxes" {
		k.childWrites++
	}
	return false, nil, nil
}

// killAt lets the controller of the test be killed.
func (s *stepsTest) killAt(write int, isAfter bool) *killer {
	s.killer = &killer{at: write, isAfter: isAfter}
	s.cluster.PrependReactor("*", "*", s.killer.react)
	s.boxes.PrependReactor("*", "*", s.killer.react)
	s.gateway.PrependReactor("*", "*", s.killer.react)
	return s.killer
}

// reconcileKilled reconciles the box until the controller is killed. Then another one starts.
func (s *stepsTest) reconcileKilled(t *testing.T) time.Duration {
	t.Helper()
	s.killer.isAtWork = true
	again, err := s.ReconcileKey(t.Context(), fixture.WebKey)
	s.killer.isAtWork = false
	if s.killer.isDead {
		s.killer.isDead, s.killer.hasKilled = false, true
		s.startAnother(t)
		return 0
	}
	if err != nil {
		t.Fatal(err)
	}
	return again
}

// TestKilledControllerKeepsRollouts kills the controller at random writes of rollouts in steps that are complete or rolled back in the
// end. Clients always reach enough pods, the end is the same, and children are not written more often than without the kill.
func TestKilledControllerKeepsRollouts(t *testing.T) {
	kills := defaultKills
	if value := os.Getenv(killsVariable); value != "" {
		var err error
		if kills, err = strconv.Atoi(value); err != nil {
			t.Fatalf("%s: %v", killsVariable, err)
		}
	}
	type rollout struct{ row, image string }
	unkilled := map[rollout]killer{}
	for number := range kills {
		row := stepsRows[number%len(stepsRows)]
		rollout := rollout{row.name, []string{"nginx:2", "nginx:bad"}[number/len(stepsRows)%2]}
		play := func(t *testing.T, write int, isAfter bool) killer {
			s := newStepsTest(t, row.rolloutType, row.steps, append(slices.Clone(row.changes), onFailure(modelv1.RolloutFailureRollback))...)
			killer := s.killAt(write, isAfter)
			s.changeBox(t, image(rollout.image))
			s.runToTheEnd(t)
			if rollout.image == "nginx:bad" {
				check(t, "phase", modelv1.RolloutRolledBack, s.rollout(t).Phase)
				s.expectNoSteps(t, "nginx:1")
			} else {
				s.expectComplete(t, rollout.image)
			}
			return *killer
		}
		if _, isPlayed := unkilled[rollout]; !isPlayed {
			unkilled[rollout] = play(t, 0, false)
		}
		write, isAfter := 1+rand.IntN(unkilled[rollout].writes), rand.IntN(2) == 0
		t.Run(fmt.Sprintf("%s to %s, write %d of %d, after it: %t", row.name, rollout.image, write, unkilled[rollout].writes, isAfter), func(t *testing.T) {
			killed := play(t, write, isAfter)
			check(t, "killed", true, killed.hasKilled)
			if killed.childWrites > unkilled[rollout].childWrites {
				t.Errorf("children were written %d times, want at most %d", killed.childWrites, unkilled[rollout].childWrites)
			}
		})
	}
}
