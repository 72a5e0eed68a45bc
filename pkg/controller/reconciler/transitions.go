// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package reconciler

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
)

// Transition says which event reports that a condition takes a reason.
type Transition struct {
	Condition, Reason string
	// EventType and Event are the type and the reason of the event.
	EventType, Event string
}

// AppliedTransitions are the transitions of the Applied condition, for all kinds of owners.
var AppliedTransitions = []Transition{
	{modelv1.ConditionApplied, modelv1.ReasonNotOwned, corev1.EventTypeWarning, "NotOwned"},
	{modelv1.ConditionApplied, modelv1.ReasonConflict, corev1.EventTypeWarning, "Conflict"},
	{modelv1.ConditionApplied, modelv1.ReasonForbidden, corev1.EventTypeWarning, "Forbidden"},
	{modelv1.ConditionApplied, modelv1.ReasonQuotaExceeded, corev1.EventTypeWarning, "QuotaExceeded"},
	{modelv1.ConditionApplied, modelv1.ReasonInvalid, corev1.EventTypeWarning, "Invalid"},
	{modelv1.ConditionApplied, modelv1.ReasonRejected, corev1.EventTypeWarning, "Rejected"},
}

// VisitTransitions visits the transitions that lead from the conditions before to the conditions after, with the message of the
// condition. It does not visit a transition again while the condition keeps its reason.
func VisitTransitions(transitions []Transition, before, after []metav1.Condition, visit func(transition Transition, message string)) {
	for _, transition := range transitions {
		now := meta.FindStatusCondition(after, transition.Condition)
		if now != nil && now.Reason == transition.Reason && ReasonIn(before, transition.Condition) != transition.Reason {
			visit(transition, now.Message)
		}
	}
}

// ReasonIn returns the reason of the condition of that type, empty if there is none.
func ReasonIn(conditions []metav1.Condition, conditionType string) string {
	if condition := meta.FindStatusCondition(conditions, conditionType); condition != nil {
		return condition.Reason
	}
	return ""
}
