// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package modelstack

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/message"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/reconciler"
)

// eventf records an event about the stack and about a related object, which may be nil. Events about the same objects count as one
// event that happens again.
func (c *Controller) eventf(stack *modelv1.ModelStack, related runtime.Object, eventType, reason, format string, args ...any) {
	c.Recorder.Eventf(stack, related, eventType, reason, "Reconcile", "%s", message.Truncate(fmt.Sprintf(format, args...)))
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

// transitions are the transitions of the conditions of a stack that events report.
var transitions = slices.Concat([]reconciler.Transition{
	{Condition: modelv1.ConditionReady, Reason: modelv1.ReasonReady, EventType: corev1.EventTypeNormal, Event: "StackReady"},
}, reconciler.AppliedTransitions)

// recordTransitions records events about the changes from the last status to a new one. It reports no change twice.
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
	reconciler.VisitTransitions(transitions, stack.Status.Conditions, status.Conditions, func(t reconciler.Transition, text string) {
		c.eventf(stack, nil, t.EventType, t.Event, "%s", text)
	})
}
