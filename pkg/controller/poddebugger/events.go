// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package poddebugger

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/message"
)

// event records an event about the PodDebugger.
func (c *Controller) event(debugger *modelv1.PodDebugger, eventType, reason, note string) {
	c.Recorder.Eventf(debugger, nil, eventType, reason, "Reconcile", "%s", message.Truncate(note))
}

// podEvent records an event about the pod, which the PodDebugger has to do with.
func (c *Controller) podEvent(pod *corev1.Pod, debugger *modelv1.PodDebugger, eventType, reason, note string) {
	c.Recorder.Eventf(pod, debugger, eventType, reason, "AddEphemeralContainer", "%s", message.Truncate(note))
}

// toldReasons are the reasons of the condition Applied that have an event.
var toldReasons = []string{modelv1.ReasonForbidden, modelv1.ReasonInvalid, modelv1.ReasonQuotaExceeded, modelv1.ReasonError}

// recordTransitions records an event for each change from the last status to the new one, so that no event is recorded twice.
func (c *Controller) recordTransitions(debugger *modelv1.PodDebugger, status *modelv1.PodDebuggerStatus) {
	for _, conditionType := range []string{modelv1.ConditionApplied, modelv1.ConditionReady} {
		is := meta.FindStatusCondition(status.Conditions, conditionType)
		was := meta.FindStatusCondition(debugger.Status.Conditions, conditionType)
		if is == nil || was != nil && was.Reason == is.Reason {
			continue
		}
		switch {
		case conditionType == modelv1.ConditionApplied && slices.Contains(toldReasons, is.Reason):
			c.event(debugger, corev1.EventTypeWarning, is.Reason, is.Message)
		case conditionType == modelv1.ConditionReady && is.Reason == modelv1.ReasonExpired:
			c.event(debugger, corev1.EventTypeNormal, modelv1.ReasonExpired, is.Message)
		}
	}
}
