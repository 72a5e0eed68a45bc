// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package modelstack

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/message"
)

// eventf records an event about the stack, and about something else unless that is nil: events that are about the same count
// as one that happens again.
func (c *Controller) eventf(stack *modelv1.ModelStack, related runtime.Object, eventType, reason, format string, args ...any) {
	c.recorder.Eventf(stack, related, eventType, reason, "Reconcile", "%s", message.Truncate(fmt.Sprintf(format, args...)))
}

// recordReady records that components are ready as the stack says now, each once, before what waits for them is written.
func (c *Controller) recordReady(s *survey) {
	for _, p := range s.progress {
		last := s.lastStates[p.Name]
		if !p.isReady || p.box == nil || last != nil && last.ReadyRevision == p.revision {
			continue
		}
		c.eventf(s.stack, p.box, corev1.EventTypeNormal, "ComponentReady", "Component %s is ready", p.Name)
	}
}

// recordTransitions records what a new status changes, compared with the last one: nothing is told twice.
func (c *Controller) recordTransitions(stack *modelv1.ModelStack, status *modelv1.ModelStackStatus) {
	before := make(map[string]modelv1.ComponentState, len(stack.Status.Components))
	for i := range stack.Status.Components {
		before[stack.Status.Components[i].Name] = stack.Status.Components[i].State
	}
	for i := range status.Components {
		component := &status.Components[i]
		if component.State == modelv1.ComponentStalled && before[component.Name] != modelv1.ComponentStalled {
			c.eventf(stack, nil, corev1.EventTypeWarning, "ComponentStalled", "Component %s", describe(component))
		}
	}
	for _, t := range []struct {
		condition, reason string
		eventType, event  string
	}{
		{modelv1.ConditionReady, modelv1.ReasonReady, corev1.EventTypeNormal, "StackReady"},
		{modelv1.ConditionApplied, modelv1.ReasonNotOwned, corev1.EventTypeWarning, "NotOwned"},
		{modelv1.ConditionApplied, modelv1.ReasonConflict, corev1.EventTypeWarning, "Conflict"},
		{modelv1.ConditionApplied, modelv1.ReasonForbidden, corev1.EventTypeWarning, "Forbidden"},
		{modelv1.ConditionApplied, modelv1.ReasonQuotaExceeded, corev1.EventTypeWarning, "QuotaExceeded"},
		{modelv1.ConditionApplied, modelv1.ReasonInvalid, corev1.EventTypeWarning, "Invalid"},
		{modelv1.ConditionApplied, modelv1.ReasonRejected, corev1.EventTypeWarning, "Rejected"},
	} {
		now := meta.FindStatusCondition(status.Conditions, t.condition)
		if now != nil && now.Reason == t.reason && reasonIn(stack.Status.Conditions, t.condition) != t.reason {
			c.eventf(stack, nil, t.eventType, t.event, "%s", now.Message)
		}
	}
}

// reasonIn returns the reason of the condition of that type, empty where there is none.
func reasonIn(conditions []metav1.Condition, conditionType string) string {
	if condition := meta.FindStatusCondition(conditions, conditionType); condition != nil {
		return condition.Reason
	}
	return ""
}
