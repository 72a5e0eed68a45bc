// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package universe

import (
	"math/rand/v2"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestPlanDependsOnItsSeedOnly(t *testing.T) {
	seen := map[string]bool{}
	for seed := range uint64(100) {
		plan := NewPlan(seed).String()
		if diff := cmp.Diff(plan, NewPlan(seed).String()); diff != "" {
			t.Errorf("seed %d has two plans: -first +second:\n%s", seed, diff)
		}
		if seen[plan] {
			t.Errorf("seed %d has the plan of another", seed)
		}
		seen[plan] = true
	}
}

// TestSpecsAreValid sends all specs of many plans to the API server, which has to accept them.
func TestSpecsAreValid(t *testing.T) {
	servers, err := NewServers()
	if err != nil {
		t.Fatal(err)
	}
	for seed := range uint64(100) {
		synctest.Test(t, func(t *testing.T) {
			w, err := newWorld(t.Context(), servers, Plan{Seed: seed}, nil)
			if err != nil {
				t.Fatal(err)
			}
			random := rand.New(rand.NewPCG(seed, 0))
			box := newBox(random)
			for range 10 {
				if err := w.users.applyBox(t.Context(), boxNames[0], box); err != nil {
					t.Errorf("%s: %v", encode(box), err)
				}
				box = editedBox(random, box)
				if random.IntN(4) == 0 {
					box = resizedBox(random, box)
				}
			}
			if err := w.users.applyStack(t.Context(), newStack(random)); err != nil {
				t.Error(err)
			}
			if err := w.users.applyPodDebugger(t.Context(), newPodDebugger(random)); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestShrink(t *testing.T) {
	plan := Plan{Servers: 2, Chaos: Chaos{Kills: 1, Breaks: 3, Refused: 10}}
	for _, name := range []string{"a", "b", "c", "d", "e", "f", "g"} {
		plan.Actions = append(plan.Actions, Action{Name: name})
	}
	has := func(plan Plan, name string) bool {
		return slices.ContainsFunc(plan.Actions, func(action Action) bool { return action.Name == name })
	}
	// The promise is broken by two actions and by broken watches. Another one is broken at all times.
	got := Shrink(plan, "promise", time.Minute, func(plan Plan) *Result {
		result := &Result{Violations: []Violation{{Promise: "another"}}}
		if has(plan, "b") && has(plan, "f") && plan.Chaos.Breaks > 0 {
			result.Violations = append(result.Violations, Violation{Promise: "promise"})
		}
		return result
	})
	want := Plan{Servers: 1, Chaos: Chaos{Breaks: 3}, Actions: []Action{{Name: "b"}, {Name: "f"}}}
	if diff := cmp.Diff(want.String(), got.String()); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}
