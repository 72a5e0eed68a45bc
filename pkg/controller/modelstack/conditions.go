// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package modelstack

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/children"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/reconciler"
)

// verdict is a condition without its bookkeeping.
type verdict reconciler.Verdict

// setCondition sets a condition of the generation. It keeps its time while its status stays the same.
func setCondition(conditions *[]metav1.Condition, generation int64, conditionType string, v verdict) {
	reconciler.SetCondition(conditions, generation, conditionType, reconciler.Verdict(v))
}

// conditionsOf computes the conditions of this generation from the states of the components.
func conditionsOf(s *survey, status *modelv1.ModelStackStatus, result *children.Result) []metav1.Condition {
	conditions := slices.Clone(s.stack.Status.Conditions)
	applied := appliedVerdict(status, result)
	stalled := stalledVerdict(status, applied)
	setCondition(&conditions, s.stack.Generation, modelv1.ConditionReady, readyVerdict(status, applied, stalled))
	setCondition(&conditions, s.stack.Generation, modelv1.ConditionProgressing, progressingVerdict(status, stalled))
	setCondition(&conditions, s.stack.Generation, modelv1.ConditionApplied, applied)
	// Tools that wait for any kind of object look for this one, and take it for a failure.
	if stalled.IsTrue {
		setCondition(&conditions, s.stack.Generation, modelv1.ConditionStalled, stalled)
	} else {
		meta.RemoveStatusCondition(&conditions, modelv1.ConditionStalled)
	}
	return conditions
}

func appliedVerdict(status *modelv1.ModelStackStatus, result *children.Result) verdict {
	waiting := inState(status, modelv1.ComponentWaiting)
	switch {
	case len(result.Failures) > 0:
		lines := make([]string, 0, len(result.Failures))
		for _, failure := range result.Failures {
			lines = append(lines, failure.Error())
		}
		return verdict{false, children.Classify(result.Failures[0]).Reason, strings.Join(lines, "\n")}
	case len(result.Pending) > 0:
		return verdict{false, modelv1.ReasonPaused, fmt.Sprintf("the stack is paused; not up to date: %d of its children", len(result.Pending))}
	case len(waiting) > 0:
		return verdict{false, modelv1.ReasonWaiting, fmt.Sprintf("held back: %s; waiting for: %s", someOf(waiting), status.WaitingFor)}
	default:
		return verdict{true, modelv1.ReasonApplied, "all children are up to date"}
	}
}

// stalledVerdict is True when a component will not become what the stack says until a user acts.
func stalledVerdict(status *modelv1.ModelStackStatus, applied verdict) verdict {
	if slices.Contains(lastingReasons, applied.Reason) {
		return verdict{true, applied.Reason, applied.Message}
	}
	for i := range status.Components {
		if component := &status.Components[i]; component.State == modelv1.ComponentStalled {
			return verdict{true, modelv1.ReasonComponentStalled, describe(component)}
		}
	}
	return verdict{}
}

func progressingVerdict(status *modelv1.ModelStackStatus, stalled verdict) verdict {
	switch {
	case len(inState(status, modelv1.ComponentProgressing)) > 0 || len(inState(status, modelv1.ComponentTerminating)) > 0:
		return verdict{true, modelv1.ReasonProgressing, readyOf(status)}
	case stalled.IsTrue:
		return verdict{false, stalled.Reason, stalled.Message}
	case status.ReadyComponents < status.TotalComponents:
		return verdict{true, modelv1.ReasonProgressing, readyOf(status)}
	default:
		return verdict{false, modelv1.ReasonRolloutComplete, readyOf(status)}
	}
}

// readyVerdict is True only for this generation: every component is what the stack says now, and nothing else is left.
func readyVerdict(status *modelv1.ModelStackStatus, applied, stalled verdict) verdict {
	switch {
	case applied.Reason == modelv1.ReasonPaused:
		return applied
	case !applied.IsTrue && applied.Reason != modelv1.ReasonWaiting:
		return verdict{false, modelv1.ReasonNotApplied, fmt.Sprintf("%s: %s", applied.Reason, applied.Message)}
	case stalled.IsTrue:
		return verdict{false, stalled.Reason, stalled.Message}
	case len(status.Components) > int(status.ReadyComponents):
		return verdict{false, modelv1.ReasonProgressing, readyOf(status)}
	default:
		return verdict{true, modelv1.ReasonReady, readyOf(status)}
	}
}

// readyOf words how many components are ready, and what keeps the first of the others.
func readyOf(status *modelv1.ModelStackStatus) string {
	are := "are"
	if status.ReadyComponents == 1 {
		are = "is"
	}
	text := fmt.Sprintf("%d of %d components %s ready", status.ReadyComponents, status.TotalComponents, are)
	for _, state := range []modelv1.ComponentState{modelv1.ComponentProgressing, modelv1.ComponentTerminating} {
		for i := range status.Components {
			if component := &status.Components[i]; component.State == state {
				return text + "; " + describe(component)
			}
		}
	}
	return text
}

// describe words the state of a component that is not ready.
func describe(component *modelv1.ModelStackComponentStatus) string {
	return fmt.Sprintf("%s: %s: %s", component.Name, component.Reason, component.Message)
}

// inState returns the names of the components in a state.
func inState(status *modelv1.ModelStackStatus, state modelv1.ComponentState) []string {
	var names []string
	for i := range status.Components {
		if status.Components[i].State == state {
			names = append(names, status.Components[i].Name)
		}
	}
	return names
}
