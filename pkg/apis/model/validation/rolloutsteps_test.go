// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package validation

import (
	"slices"
	"strings"
	"testing"

	"k8s.io/utils/ptr"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model"
)

func TestRolloutSteps(t *testing.T) {
	step := func(weight int32, pause string) model.ModelBoxRolloutStep {
		return model.ModelBoxRolloutStep{Weight: weight, Pause: pause}
	}
	paused := func(pause string) func(*model.ModelBox) { return steps(model.RolloutCanary, step(50, pause)) }
	canary := steps(model.RolloutCanary, step(50, ""))
	named := func(length int) func(*model.ModelBox) {
		return func(box *model.ModelBox) { box.Name = strings.Repeat("a", length) }
	}
	check(t, []row{
		{"steps of a canary are accepted", steps(model.RolloutCanary, step(1, "5m"), step(50, ""), step(50, "Manual"), step(100, "1h")), nil},
		{"another type is refused", steps("Shadow", step(0, "soon")), []string{"Unsupported value: spec.rollout.type"}},
		{"an empty type is refused", steps(""), []string{"Unsupported value: spec.rollout.type"}},
		{"a canary has steps", steps(model.RolloutCanary), []string{"Required value: spec.rollout.steps"}},
		{"steps have a type", untyped(step(50, "")), []string{"Forbidden: spec.rollout.steps"}},
		{"no steps need no type", untyped(), nil},
		{"20 steps are accepted", steps(model.RolloutCanary, slices.Repeat([]model.ModelBoxRolloutStep{step(50, "")}, 20)...), nil},
		{"21 steps are too many", steps(model.RolloutCanary, slices.Repeat([]model.ModelBoxRolloutStep{step(50, "")}, 21)...),
			[]string{"Too many: spec.rollout.steps"}},

		{"a step of a canary has a weight", steps(model.RolloutCanary, step(0, "")), []string{"Invalid value: spec.rollout.steps[0].weight"}},
		{"a weight is not negative", steps(model.RolloutCanary, step(-1, "")), []string{"Invalid value: spec.rollout.steps[0].weight"}},
		{"a weight is at most 100", steps(model.RolloutCanary, step(100, ""), step(101, "")), []string{"Invalid value: spec.rollout.steps[1].weight"}},
		{"a weight does not become less", steps(model.RolloutCanary, step(10, ""), step(50, ""), step(49, "")), []string{"Invalid value: spec.rollout.steps[2].weight"}},
		{"a weight is compared with valid weights", steps(model.RolloutCanary, step(10, ""), step(500, ""), step(20, "")),
			[]string{"Invalid value: spec.rollout.steps[1].weight"}},

		{"a blue-green rollout needs no steps", steps(model.RolloutBlueGreen), nil},
		{"a blue-green rollout with pauses is accepted", steps(model.RolloutBlueGreen, step(0, "10m"), step(0, "Manual")), nil},
		{"a blue-green rollout has no weights", steps(model.RolloutBlueGreen, step(0, ""), step(50, "")), []string{"Forbidden: spec.rollout.steps[1].weight"}},
		{"a blue-green rollout pauses for a duration", steps(model.RolloutBlueGreen, step(0, "Automatic")), []string{"Invalid value: spec.rollout.steps[0].pause"}},

		{"a pause of a week is accepted", paused("168h"), nil},
		{"a pause of more than a week is too long", paused("168h1ns"), []string{"Invalid value: spec.rollout.steps[0].pause"}},
		{"a pause of several units is accepted", paused("1h30m"), nil},
		{"a pause of nothing is refused", paused("0s"), []string{"Invalid value: spec.rollout.steps[0].pause"}},
		{"a pause is not negative", paused("-5m"), []string{"Invalid value: spec.rollout.steps[0].pause"}},
		{"a pause has a unit", paused("5"), []string{"Invalid value: spec.rollout.steps[0].pause"}},
		{"a day is no unit", paused("1d"), []string{"Invalid value: spec.rollout.steps[0].pause"}},
		{"Manual has a capital", paused("manual"), []string{"Invalid value: spec.rollout.steps[0].pause"}},

		{"a StatefulSet takes a canary", all(workload(model.WorkloadStatefulSet), canary), nil},
		{"a StatefulSet takes no blue-green rollout", all(workload(model.WorkloadStatefulSet), steps(model.RolloutBlueGreen)), []string{"Invalid value: spec.rollout.type"}},
		{"a DaemonSet takes a canary", all(workload(model.WorkloadDaemonSet), canary), nil},
		{"a DaemonSet takes no blue-green rollout", all(workload(model.WorkloadDaemonSet), steps(model.RolloutBlueGreen)), []string{"Invalid value: spec.rollout.type"}},
		{"Recreate takes no canary", all(strategy(model.StrategyRecreate), canary), []string{"Forbidden: spec.rollout.type"}},
		{"Recreate takes no blue-green rollout", all(strategy(model.StrategyRecreate), steps(model.RolloutBlueGreen)), []string{"Forbidden: spec.rollout.type"}},

		{"a name of 56 characters leaves room for the candidate", all(named(56), canary), nil},
		{"a name of 57 characters leaves no room for the candidate", all(named(57), canary), []string{"Forbidden: spec.rollout.type"}},
		{"a name of 57 characters is accepted without a type", all(named(57), untyped()), nil},
		{"a StatefulSet has no candidate to leave room for", all(workload(model.WorkloadStatefulSet), named(52), canary), nil},
	})
}

// TestRolloutStepsUpdate makes changes of other fields that a type of rollouts does not go with.
func TestRolloutStepsUpdate(t *testing.T) {
	canary := steps(model.RolloutCanary, model.ModelBoxRolloutStep{Weight: 50})
	longName := func(box *model.ModelBox) { box.Name = strings.Repeat("a", 63) }
	for _, row := range []struct {
		name     string
		old, new func(*model.ModelBox)
		want     []string
	}{
		{"a box gets steps", untyped(), canary, nil},
		{"a box with a long name does not get steps", longName, all(longName, canary), []string{"Forbidden: spec.rollout.type"}},
		{"a box with steps does not become Recreate", canary, all(canary, strategy(model.StrategyRecreate)), []string{"Forbidden: spec.rollout.type"}},
		{"a box with steps does not lose them alone", canary, steps(model.RolloutCanary), []string{"Required value: spec.rollout.steps"}},
		{"a box with steps does not lose its type alone", canary, untyped(model.ModelBoxRolloutStep{Weight: 50}), []string{"Forbidden: spec.rollout.steps"}},
		{"a box loses its steps", canary, untyped(), nil},
	} {
		t.Run(row.name, func(t *testing.T) {
			old, box := validBox(), validBox()
			row.old(old)
			row.new(box)
			errs := ValidateModelBoxSpecUpdate(t.Context(), box, old, ObjectPaths.Spec)
			if got := typesAndFields(errs); !slices.Equal(got, row.want) {
				t.Errorf("got %q\nwant %q\nin full: %v", got, row.want, errs.ToAggregate())
			}
		})
	}
}

// TestRolloutStepMessages checks that errors say what would be right.
func TestRolloutStepMessages(t *testing.T) {
	for _, row := range []struct {
		name   string
		mutate func(*model.ModelBox)
		want   string
	}{
		{"a weight that becomes less", steps(model.RolloutCanary, model.ModelBoxRolloutStep{Weight: 20}, model.ModelBoxRolloutStep{Weight: 10}),
			"must be at least 20, the weight of the step before"},
		{"a pause", steps(model.RolloutBlueGreen, model.ModelBoxRolloutStep{Pause: "1d"}),
			`must be "Manual", or a duration greater than 0 and at most 168h, such as "5m"`},
		{"a name", all(steps(model.RolloutBlueGreen), func(box *model.ModelBox) { box.Name = strings.Repeat("a", 57) }),
			`when the name of the box has more than 56 characters: it must fit into the name of the candidate, which ends in "-canary"`},
	} {
		t.Run(row.name, func(t *testing.T) {
			box := validBox()
			row.mutate(box)
			errs := ValidateModelBox(t.Context(), box)
			if len(errs) != 1 || !strings.Contains(errs[0].Detail, row.want) {
				t.Errorf("got %v, want one error with %q", errs.ToAggregate(), row.want)
			}
		})
	}
	if maxStepPause.String() != maxStepPauseText+"0m0s" {
		t.Errorf("the message says %s, the limit is %s", maxStepPauseText, maxStepPause)
	}
}

// steps gives the box a type of rollouts, with steps.
func steps(rolloutType model.RolloutType, steps ...model.ModelBoxRolloutStep) func(*model.ModelBox) {
	return func(box *model.ModelBox) {
		untyped(steps...)(box)
		box.Spec.Rollout.Type = ptr.To(rolloutType)
	}
}

// untyped gives the box a rollout with steps and without a type.
func untyped(steps ...model.ModelBoxRolloutStep) func(*model.ModelBox) {
	return func(box *model.ModelBox) {
		box.Spec.Rollout = &model.ModelBoxRollout{OnFailure: model.RolloutFailureNone, MaxRestarts: ptr.To[int32](3), Steps: steps}
	}
}
