// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package modelbox

import (
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
)

// maxNamedFields is how many changed fields an event names.
const maxNamedFields = 3

// eventf records an event about the box. reason names what happened, action what the controller did.
func (c *Controller) eventf(box *modelv1.ModelBox, eventType, reason, action, format string, args ...any) {
	c.recorder.Eventf(box, nil, eventType, reason, action, "%s", shorten(fmt.Sprintf(format, args...)))
}

// tellTransitions records what a new status changes, compared with the last one: nothing is told twice.
func (c *Controller) tellTransitions(box *modelv1.ModelBox, status *modelv1.ModelBoxStatus) {
	for _, t := range []struct {
		condition, reason string
		eventType, event  string
	}{
		{modelv1.ConditionProgressing, modelv1.ReasonRolloutComplete, corev1.EventTypeNormal, "RolloutComplete"},
		{modelv1.ConditionProgressing, modelv1.ReasonProgressDeadlineExceeded, corev1.EventTypeWarning, "RolloutStalled"},
		{modelv1.ConditionProgressing, modelv1.ReasonDeploymentPaused, corev1.EventTypeWarning, "DeploymentPaused"},
		{modelv1.ConditionApplied, modelv1.ReasonNotOwned, corev1.EventTypeWarning, "NotOwned"},
		{modelv1.ConditionApplied, modelv1.ReasonConflict, corev1.EventTypeWarning, "Conflict"},
		{modelv1.ConditionApplied, modelv1.ReasonForbidden, corev1.EventTypeWarning, "Forbidden"},
		{modelv1.ConditionApplied, modelv1.ReasonQuotaExceeded, corev1.EventTypeWarning, "QuotaExceeded"},
		{modelv1.ConditionApplied, modelv1.ReasonInvalid, corev1.EventTypeWarning, "Invalid"},
		{modelv1.ConditionApplied, modelv1.ReasonRejected, corev1.EventTypeWarning, "Rejected"},
	} {
		before := meta.FindStatusCondition(box.Status.Conditions, t.condition)
		now := meta.FindStatusCondition(status.Conditions, t.condition)
		if now != nil && now.Reason == t.reason && (before == nil || before.Reason != t.reason) {
			c.eventf(box, t.eventType, t.event, "Reconcile", "%s", now.Message)
		}
	}
}

// leaves names the fields in a set, the first few of them.
func leaves(fields *fieldpath.Set) string {
	var names []string
	fields.Leaves().Iterate(func(path fieldpath.Path) { names = append(names, strings.TrimPrefix(path.String(), ".")) })
	if len(names) > maxNamedFields {
		names = append(names[:maxNamedFields], "…")
	}
	return strings.Join(names, ", ")
}
