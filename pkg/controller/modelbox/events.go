// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package modelbox

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/sets"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/message"
)

// maxEventReason is how long the reason of an event may be.
const maxEventReason = 128

// eventf records an event about the box. reason names what happened, action what the controller did.
func (c *Controller) eventf(box *modelv1.ModelBox, eventType, reason, action, format string, args ...any) {
	c.recorder.Eventf(box, nil, eventType, reason, action, "%s", message.Truncate(fmt.Sprintf(format, args...)))
}

// recordRolloutComplete records that a rollout is complete, each once.
func (c *Controller) recordRolloutComplete(box *modelv1.ModelBox, status *modelv1.ModelBoxStatus, workload workload) {
	progressing := meta.FindStatusCondition(status.Conditions, modelv1.ConditionProgressing)
	if workload == nil || progressing.Reason != modelv1.ReasonRolloutComplete {
		return
	}
	wasComplete := reasonIn(box.Status.Conditions, modelv1.ConditionProgressing) == modelv1.ReasonRolloutComplete
	if c.rollouts.complete(keyOf(box), workload, wasComplete) {
		c.eventf(box, corev1.EventTypeNormal, "RolloutComplete", "Reconcile", "%s", progressing.Message)
	}
}

// ownReadyReasons are the reasons of the Ready condition that do not come from a pod that fails.
var ownReadyReasons = sets.New("",
	modelv1.ReasonPending, modelv1.ReasonReady, modelv1.ReasonStopped, modelv1.ReasonNotApplied, modelv1.ReasonPaused,
	modelv1.ReasonProgressing, modelv1.ReasonDeploymentPaused, modelv1.ReasonStatefulSetPartitioned, modelv1.ReasonProgressDeadlineExceeded, modelv1.ReasonLoadBalancerPending,
)

// recordPodFailure records that pods begin to fail, and that they no longer do. While a child is not what the box says,
// nothing is known of them.
func (c *Controller) recordPodFailure(box *modelv1.ModelBox, status *modelv1.ModelBoxStatus) {
	before, now := reasonIn(box.Status.Conditions, modelv1.ConditionReady), meta.FindStatusCondition(status.Conditions, modelv1.ConditionReady)
	switch {
	case now == nil || now.Reason == before || now.Reason == modelv1.ReasonNotApplied || now.Reason == modelv1.ReasonPaused:
	case !ownReadyReasons.Has(now.Reason):
		c.eventf(box, corev1.EventTypeWarning, now.Reason[:min(len(now.Reason), maxEventReason)], "Reconcile", "%s", now.Message)
	case !ownReadyReasons.Has(before):
		c.eventf(box, corev1.EventTypeNormal, "PodsRecovered", "Reconcile", "No pod fails any more because of %s: %s", before, now.Message)
	}
}

// recordTransitions records what a new status changes, compared with the last one: nothing is told twice.
func (c *Controller) recordTransitions(box *modelv1.ModelBox, status *modelv1.ModelBoxStatus) {
	for _, t := range []struct {
		condition, reason string
		eventType, event  string
	}{
		{modelv1.ConditionProgressing, modelv1.ReasonProgressDeadlineExceeded, corev1.EventTypeWarning, "RolloutStalled"},
		{modelv1.ConditionProgressing, modelv1.ReasonDeploymentPaused, corev1.EventTypeWarning, "DeploymentPaused"},
		{modelv1.ConditionProgressing, modelv1.ReasonStatefulSetPartitioned, corev1.EventTypeWarning, "StatefulSetPartitioned"},
		{modelv1.ConditionApplied, modelv1.ReasonNotOwned, corev1.EventTypeWarning, "NotOwned"},
		{modelv1.ConditionApplied, modelv1.ReasonConflict, corev1.EventTypeWarning, "Conflict"},
		{modelv1.ConditionApplied, modelv1.ReasonForbidden, corev1.EventTypeWarning, "Forbidden"},
		{modelv1.ConditionApplied, modelv1.ReasonQuotaExceeded, corev1.EventTypeWarning, "QuotaExceeded"},
		{modelv1.ConditionApplied, modelv1.ReasonInvalid, corev1.EventTypeWarning, "Invalid"},
		{modelv1.ConditionApplied, modelv1.ReasonRejected, corev1.EventTypeWarning, "Rejected"},
	} {
		now := meta.FindStatusCondition(status.Conditions, t.condition)
		if now != nil && now.Reason == t.reason && reasonIn(box.Status.Conditions, t.condition) != t.reason {
			c.eventf(box, t.eventType, t.event, "Reconcile", "%s", now.Message)
		}
	}
	c.recordPodFailure(box, status)
}

// reasonIn returns the reason of the condition of that type, empty where there is none.
func reasonIn(conditions []metav1.Condition, conditionType string) string {
	if condition := meta.FindStatusCondition(conditions, conditionType); condition != nil {
		return condition.Reason
	}
	return ""
}
