// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package modelbox

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/utils/ptr"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/apply"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/modelbox/kinds"
	boxstatus "github.com/sharelinuxs/modelbox-apiserver/pkg/controller/modelbox/status"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/reconciler"
)

// maxEventReason is how long the reason of an event may be.
const maxEventReason = 128

// eventf records an event about the box. reason names what happened, action what the controller did.
func (c *Controller) eventf(box *modelv1.ModelBox, eventType, reason, action, format string, args ...any) {
	c.Eventf(box, nil, eventType, reason, action, format, args...)
}

// recordRolloutComplete records that a rollout is complete, each once.
func (c *Controller) recordRolloutComplete(box *modelv1.ModelBox, status *modelv1.ModelBoxStatus, workload kinds.Workload) {
	progressing := meta.FindStatusCondition(status.Conditions, modelv1.ConditionProgressing)
	if workload == nil || progressing.Reason != modelv1.ReasonRolloutComplete {
		return
	}
	wasComplete := reconciler.ReasonIn(box.Status.Conditions, modelv1.ConditionProgressing) == modelv1.ReasonRolloutComplete
	wasResized := box.Status.Resize != nil && box.Status.Resize.Phase == modelv1.ResizeCompleting // A resize is no rollout.
	isNew := c.rollouts.Record.Complete(apply.KeyOf(box), workload, wasComplete)
	switch {
	case !isNew || wasResized || box.Spec.Workload == modelv1.WorkloadCronJob: // whose Jobs have events of their own
	case box.Spec.Workload == modelv1.WorkloadJob:
		c.eventf(box, corev1.EventTypeNormal, "JobSucceeded", "Reconcile", "Job %s has succeeded", workload.GetName())
	default:
		c.eventf(box, corev1.EventTypeNormal, "RolloutComplete", "Reconcile", "%s", progressing.Message)
	}
}

// ownReadyReasons are the reasons of the Ready condition that do not come from a pod that fails.
var ownReadyReasons = sets.New("",
	modelv1.ReasonPending, modelv1.ReasonReady, modelv1.ReasonComplete, modelv1.ReasonStopped, modelv1.ReasonScaledToZero, modelv1.ReasonSuspended, modelv1.ReasonNotApplied, modelv1.ReasonPaused,
	modelv1.ReasonProgressing, modelv1.ReasonDeploymentPaused, modelv1.ReasonStatefulSetPartitioned, modelv1.ReasonProgressDeadlineExceeded, modelv1.ReasonLoadBalancerPending,
	modelv1.ReasonRolloutFailed, modelv1.ReasonRolledBack, modelv1.ReasonResizeDeferred, modelv1.ReasonResizeInfeasible,
	modelv1.ReasonIngressAddressPending, modelv1.ReasonRouteNotAccepted,
)

// recordPodFailure records that pods begin to fail, and that they no longer do. While a child is not what the box says,
// nothing is known of them.
func (c *Controller) recordPodFailure(box *modelv1.ModelBox, status *modelv1.ModelBoxStatus) {
	before, now := reconciler.ReasonIn(box.Status.Conditions, modelv1.ConditionReady), meta.FindStatusCondition(status.Conditions, modelv1.ConditionReady)
	switch {
	case now == nil || now.Reason == before || now.Reason == modelv1.ReasonNotApplied || now.Reason == modelv1.ReasonPaused || now.Reason == modelv1.ReasonRolledBack:
	case !ownReadyReasons.Has(now.Reason):
		c.eventf(box, corev1.EventTypeWarning, now.Reason[:min(len(now.Reason), maxEventReason)], "Reconcile", "%s", now.Message)
	case !ownReadyReasons.Has(before):
		c.eventf(box, corev1.EventTypeNormal, "PodsRecovered", "Reconcile", "Pods recovered from %s: %s", before, now.Message)
	}
}

// transitions are the transitions of the conditions of a box that events report, except for those that are about pods.
var transitions = slices.Concat([]reconciler.Transition{
	{Condition: modelv1.ConditionProgressing, Reason: modelv1.ReasonProgressDeadlineExceeded, EventType: corev1.EventTypeWarning, Event: "RolloutStalled"},
	{Condition: modelv1.ConditionProgressing, Reason: modelv1.ReasonRolledBack, EventType: corev1.EventTypeWarning, Event: "RolledBack"},
	{Condition: modelv1.ConditionProgressing, Reason: modelv1.ReasonResizeInfeasible, EventType: corev1.EventTypeWarning, Event: "ResizeInfeasible"},
	{Condition: modelv1.ConditionProgressing, Reason: modelv1.ReasonDeploymentPaused, EventType: corev1.EventTypeWarning, Event: "DeploymentPaused"},
	{Condition: modelv1.ConditionProgressing, Reason: modelv1.ReasonStatefulSetPartitioned, EventType: corev1.EventTypeWarning, Event: "StatefulSetPartitioned"},
	{Condition: modelv1.ConditionApplied, Reason: modelv1.ReasonNotServed, EventType: corev1.EventTypeWarning, Event: "NotServed"},
}, reconciler.AppliedTransitions)

// recordTransitions records events about the changes from the last status to a new one. It reports no change twice.
func (c *Controller) recordTransitions(box *modelv1.ModelBox, status *modelv1.ModelBoxStatus) {
	reconciler.VisitTransitions(transitions, box.Status.Conditions, status.Conditions, func(t reconciler.Transition, text string) {
		c.eventf(box, t.EventType, t.Event, "Reconcile", "%s", text)
	})
	c.recordPodFailure(box, status)
	c.recordFailedRollout(box, status.Rollout)
	c.recordStep(box, status.Rollout)
	c.recordResize(box, status)
}

// recordResize records that a resize in place begins, is complete, or is given up.
func (c *Controller) recordResize(box *modelv1.ModelBox, status *modelv1.ModelBoxStatus) {
	last, resize := box.Status.Resize, status.Resize
	wasInPlace := last != nil && last.Phase != modelv1.ResizeRestarting
	switch {
	case resize == nil && last != nil && last.Phase == modelv1.ResizeCompleting:
		c.eventf(box, corev1.EventTypeNormal, "Resized", "Reconcile", "Resized %s in place", kinds.Count(status.Replicas, "pod", "pods"))
	case resize == nil:
	case resize.Phase == modelv1.ResizeRestarting && wasInPlace:
		c.eventf(box, corev1.EventTypeWarning, "ResizeFailed", "Reconcile", "Replacing the pods, which cannot be resized in place: %s", resize.Message)
	case resize.Phase == modelv1.ResizeInProgress && !(wasInPlace && last.PodsHash == resize.PodsHash):
		c.eventf(box, corev1.EventTypeNormal, "Resizing", "Reconcile", "Resizing the pods in place")
	}
}

// recordStep records that a rollout in steps begins with a step.
func (c *Controller) recordStep(box *modelv1.ModelBox, rollout *modelv1.ModelBoxRolloutStatus) {
	if rollout == nil || rollout.Step == nil {
		return
	}
	if last := box.Status.Rollout; last != nil && last.PodsHash == rollout.PodsHash && ptr.Equal(last.Step, rollout.Step) {
		return
	}
	c.eventf(box, corev1.EventTypeNormal, "RolloutStep", "Reconcile", "%s", boxstatus.DescribeStep(box, *rollout.Step))
}

// recordFailedRollout records that a rollout has failed, and counts it.
func (c *Controller) recordFailedRollout(box *modelv1.ModelBox, rollout *modelv1.ModelBoxRolloutStatus) {
	if rollout == nil || !rollout.Phase.HasFailed() {
		return
	}
	if last := box.Status.Rollout; last != nil && last.Phase.HasFailed() && last.PodsHash == rollout.PodsHash {
		return
	}
	c.metrics.failedRollouts.WithLabelValues(string(rollout.Phase)).Inc()
	c.eventf(box, corev1.EventTypeWarning, "RolloutFailed", "Reconcile", "%s: %s%s", rollout.Reason, rollout.Message,
		map[modelv1.RolloutPhase]string{modelv1.RolloutPaused: "; the rollout is paused", modelv1.RolloutRolledBack: "; rolling back"}[rollout.Phase])
}
