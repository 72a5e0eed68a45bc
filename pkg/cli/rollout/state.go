// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package rollout

import (
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/cli/cliutil"
)

// state is how far a rollout is.
type state struct {
	isComplete bool
	// hasFailed says that the rollout will not be complete unless a user changes something.
	hasFailed bool
	// reason and message say what the rollout waits for, or why it has failed.
	reason, message string
}

// stateOf returns how far the rollout of a box or of a stack is.
func stateOf(object runtime.Object) state {
	switch object := object.(type) {
	case *modelv1.ModelBox:
		return boxState(object)
	case *modelv1.ModelStack:
		return summaryState(cliutil.SummaryOf(object, object.Status.Conditions))
	}
	return state{}
}

func summaryState(summary cliutil.Summary) state {
	return state{
		isComplete: summary.IsReady,
		hasFailed:  summary.IsStalled || summary.Reason == modelv1.ReasonPaused,
		reason:     summary.Reason,
		message:    cliutil.OneLine(summary.Message),
	}
}

// boxState is complete when all pods match the box and are available. Other requirements of Ready, such as the address of a load
// balancer, are not part of the rollout.
func boxState(box *modelv1.ModelBox) state {
	s := summaryState(cliutil.SummaryOf(box, box.Status.Conditions))
	progressing, applied := currentCondition(box, modelv1.ConditionProgressing), currentCondition(box, modelv1.ConditionApplied)
	switch {
	case s.isComplete, box.DeletionTimestamp != nil, progressing == nil || applied == nil:
	case progressing.Reason == modelv1.ReasonRolloutComplete && applied.Status == metav1.ConditionTrue:
		s = state{isComplete: true, reason: progressing.Reason, message: cliutil.OneLine(progressing.Message)}
	case progressing.Status == metav1.ConditionTrue && !s.hasFailed && s.reason != progressing.Reason:
		// The pods say why there is no progress, and the rollout how far it is.
		s.message = cliutil.OneLine(progressing.Message) + "; " + s.String()
		s.reason = progressing.Reason
	}
	return s
}

// currentCondition returns the condition of a box if it is about its present spec.
func currentCondition(box *modelv1.ModelBox, name string) *metav1.Condition {
	condition := meta.FindStatusCondition(box.Status.Conditions, name)
	if condition == nil || condition.ObservedGeneration < box.Generation {
		return nil
	}
	return condition
}

// nameOf names a box or a stack as "kubectl rollout status" does.
func nameOf(object runtime.Object) string {
	switch object := object.(type) {
	case *modelv1.ModelBox:
		return fmt.Sprintf("modelbox %q", object.Name)
	case *modelv1.ModelStack:
		return fmt.Sprintf("modelstack %q", object.Name)
	}
	return ""
}

// waitingFor returns what the rollout of a box waits for, or of each component of a stack that is not ready.
func waitingFor(object runtime.Object) []string {
	s := stateOf(object)
	stack, isStack := object.(*modelv1.ModelStack)
	if !isStack || stack.Status.ObservedGeneration < stack.Generation {
		return []string{s.String()}
	}
	var all []string
	for i := range stack.Status.Components {
		if component := &stack.Status.Components[i]; component.State != modelv1.ComponentReady {
			all = append(all, "component "+component.Name+": "+componentState(component).String())
		}
	}
	return all
}

func (s state) String() string {
	switch {
	case s.message == "":
		return s.reason
	case s.reason == modelv1.ReasonProgressing:
		return s.message
	}
	return s.reason + ": " + s.message
}

// componentState is how far a component is, as its stack says.
func componentState(component *modelv1.ModelStackComponentStatus) state {
	s := state{
		isComplete: component.State == modelv1.ComponentReady,
		hasFailed:  component.State == modelv1.ComponentStalled,
		reason:     component.Reason,
		message:    cliutil.OneLine(component.Message),
	}
	if s.reason == "" {
		s.reason = string(component.State)
	}
	if s.message == "" && len(component.WaitingFor) > 0 {
		s.message = "for " + strings.Join(component.WaitingFor, ", ")
	}
	return s
}
