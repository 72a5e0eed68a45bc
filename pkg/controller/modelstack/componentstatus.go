// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package modelstack

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/helper"
	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/children"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/message"
)

// lastingReasons are the reasons of failures that do not end by waiting.
var lastingReasons = []string{
	modelv1.ReasonNotOwned,
	modelv1.ReasonForbidden,
	modelv1.ReasonInvalid,
	modelv1.ReasonRejected,
}

// componentStatus returns the status of a component, and after how long it stalls if nothing happens, 0 for never.
func componentStatus(s *survey, p *progress, result *children.Result, now time.Time) (modelv1.ModelStackComponentStatus, time.Duration) {
	status := modelv1.ModelStackComponentStatus{Name: p.Name}
	last := s.lastStates[p.Name]
	if last != nil {
		status.ReadyRevision = last.ReadyRevision
		status.LastProgressTime = last.LastProgressTime
	}
	if p.box != nil {
		status.ReadyReplicas = p.box.Status.ReadyReplicas
	}
	if p.isReady {
		status.ReadyRevision = p.revision
	}
	failure, deadline := failureOf(p, result), progressDeadline(p)
	switch {
	case failure != nil:
		status.State, status.Reason, status.Message = failedState(failure)
	case len(p.waitingFor) > 0:
		status.State, status.Reason, status.WaitingFor = modelv1.ComponentWaiting, modelv1.ReasonWaiting, p.waitingFor
		status.Message = "waiting for " + strings.Join(p.waitingFor, ", ")
	case p.obstacle != "":
		status.State, status.Reason, status.Message = modelv1.ComponentProgressing, modelv1.ReasonChildBeingDeleted, p.obstacle
	case p.isReady && p.former != nil:
		status.State, status.Reason = modelv1.ComponentProgressing, modelv1.ReasonChildBeingDeleted
		status.Message = fmt.Sprintf("%s %s is to be deleted", p.former.GetObjectKind().GroupVersionKind().Kind, p.former.GetName())
		// The components that use the former child may take as long as their own deadlines allow.
		deadline = 0
	case p.isReady:
		status.State = modelv1.ComponentReady
	case !p.isCurrent && s.stack.Spec.Paused:
		status.State, status.Reason, status.Message = modelv1.ComponentProgressing, modelv1.ReasonPaused, "the stack is paused"
	default:
		status.State, status.Reason, status.Message = boxState(p)
	}
	status.Message = message.Truncate(status.Message)
	if last == nil || s.isNewGeneration || hasProgressed(last, &status) {
		status.LastProgressTime = &metav1.Time{Time: now.Truncate(time.Second)}
	}
	return status, stallUnlessProgressing(&status, deadline, now)
}

// failureOf returns what keeps a child of the component from being as the stack says, nil where nothing does.
func failureOf(p *progress, result *children.Result) error {
	for _, child := range p.rendered {
		if err := result.Failure(child.GetKind(), child.GetName()); err != nil {
			return err
		}
	}
	return nil
}

func failedState(failure error) (state modelv1.ComponentState, reason, message string) {
	reason = children.Classify(failure).Reason
	if slices.Contains(lastingReasons, reason) {
		return modelv1.ComponentStalled, reason, failure.Error()
	}
	return modelv1.ComponentProgressing, reason, failure.Error()
}

// boxState is what the box says of itself, if that is about what the stack says.
func boxState(p *progress) (state modelv1.ComponentState, reason, message string) {
	if !p.isCurrent || p.box == nil {
		return modelv1.ComponentProgressing, modelv1.ReasonProgressing, "waiting for the update to be observed"
	}
	if p.box.Status.ObservedGeneration < p.box.Generation {
		return modelv1.ComponentProgressing, modelv1.ReasonProgressing, "waiting for the box to be observed"
	}
	if stalled := meta.FindStatusCondition(p.box.Status.Conditions, modelv1.ConditionStalled); stalled != nil && stalled.Status == metav1.ConditionTrue {
		return modelv1.ComponentStalled, stalled.Reason, stalled.Message
	}
	if ready := meta.FindStatusCondition(p.box.Status.Conditions, modelv1.ConditionReady); ready != nil {
		return modelv1.ComponentProgressing, ready.Reason, ready.Message
	}
	return modelv1.ComponentProgressing, modelv1.ReasonPending, "the controller has not seen the box yet"
}

// hasProgressed returns whether a component has come nearer to what the stack says, or may come nearer again because it is no
// longer paused. Another failure of its pods, or more failures, are no progress.
func hasProgressed(last, now *modelv1.ModelStackComponentStatus) bool {
	switch {
	case now.State == modelv1.ComponentStalled || last.State == modelv1.ComponentStalled && now.State == modelv1.ComponentProgressing && last.ReadyReplicas == now.ReadyReplicas:
		return false
	case last.State != now.State, last.ReadyReplicas != now.ReadyReplicas, last.Reason == modelv1.ReasonPaused && now.Reason != last.Reason:
		return true
	default:
		return now.Reason == modelv1.ReasonProgressing && last.Reason == now.Reason && last.Message != now.Message
	}
}

// isJudgedByBox returns whether the box of the component decides how long its rollout may take: a step has a pause, and a Job a
// deadline, that may be longer than the deadline of the rollout.
func isJudgedByBox(p *progress) bool {
	return p.isCurrent && p.box != nil && p.box.Status.ObservedGeneration >= p.box.Generation &&
		p.box.Status.Rollout != nil && p.box.Status.Rollout.Phase == modelv1.RolloutProgressing
}

// progressDeadline returns how long the component may make no progress before it counts as stalled, from the last change of the
// stack, and 0 for no limit. It is the deadline for a rollout of its box, unless the box decides about that.
func progressDeadline(p *progress) time.Duration {
	switch {
	case isJudgedByBox(p):
		return 0
	case p.box == nil:
		return helper.DefaultProgressDeadline
	default:
		return helper.ProgressDeadline(p.box)
	}
}

// stallUnlessProgressing sets the state of a component to Stalled if it has made no progress for the deadline. Otherwise, it returns
// the time until then, and 0 for a component that cannot stall. A deadline of 0 is no limit.
func stallUnlessProgressing(status *modelv1.ModelStackComponentStatus, progressDeadline time.Duration, now time.Time) time.Duration {
	if progressDeadline == 0 || status.State != modelv1.ComponentProgressing || status.Reason == modelv1.ReasonPaused || status.LastProgressTime == nil {
		return 0
	}
	if left := progressDeadline - now.Sub(status.LastProgressTime.Time); left > 0 {
		return left
	}
	status.State = modelv1.ComponentStalled
	status.Message = message.Truncate(fmt.Sprintf("no progress for %s: %s: %s", progressDeadline, status.Reason, status.Message))
	status.Reason = modelv1.ReasonProgressDeadlineExceeded
	return 0
}
