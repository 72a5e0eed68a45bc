// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package modelstack

import (
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/helper"
	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/children"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/message"
)

func TestStatusOfAComponent(t *testing.T) {
	long := strings.Repeat("x", 2*message.MaxBytes)
	now := time.Now().Truncate(time.Second)
	condition := func(conditionType string, status metav1.ConditionStatus, reason, text string) metav1.Condition {
		return metav1.Condition{Type: conditionType, Status: status, Reason: reason, Message: text}
	}
	// box is a box of generation 2 with two ready pods and these conditions.
	box := func(observedGeneration int64, conditions ...metav1.Condition) *modelv1.ModelBox {
		return &modelv1.ModelBox{
			ObjectMeta: metav1.ObjectMeta{Name: "web", Generation: 2},
			Status:     modelv1.ModelBoxStatus{ObservedGeneration: observedGeneration, ReadyReplicas: 2, Conditions: conditions},
		}
	}
	ready := condition(modelv1.ConditionReady, metav1.ConditionTrue, modelv1.ReasonReady, "2 of 2")
	failing := condition(modelv1.ConditionReady, metav1.ConditionFalse, "CrashLoopBackOff", "exit code 1")
	former := &corev1.Service{TypeMeta: metav1.TypeMeta{Kind: "Service"}, ObjectMeta: metav1.ObjectMeta{Name: "old"}}

	for _, row := range []struct {
		name     string
		progress progress
		paused   bool
		// last is the revision that was ready last.
		last string
		want modelv1.ModelStackComponentStatus
		// stallsLater is whether the component stalls without progress.
		stallsLater bool
	}{
		{name: "it waits for others", progress: progress{waitingFor: []string{"db", "mail"}, obstacle: "o"},
			want: modelv1.ModelStackComponentStatus{State: modelv1.ComponentWaiting, Reason: modelv1.ReasonWaiting, WaitingFor: []string{"db", "mail"}, Message: "waiting for db, mail"}},
		{name: "an obstacle is in its way", progress: progress{obstacle: "Service web has to be deleted first"}, stallsLater: true,
			want: modelv1.ModelStackComponentStatus{State: modelv1.ComponentProgressing, Reason: modelv1.ReasonChildBeingDeleted, Message: "Service web has to be deleted first"}},
		{name: "it is ready", progress: progress{isCurrent: true, isReady: true, box: box(2, ready)}, last: "r1",
			want: modelv1.ModelStackComponentStatus{State: modelv1.ComponentReady, ReadyReplicas: 2, ReadyRevision: "r2"}},
		{name: "it is ready and has a former child", progress: progress{isCurrent: true, isReady: true, box: box(2, ready), former: former},
			want: modelv1.ModelStackComponentStatus{State: modelv1.ComponentProgressing, Reason: modelv1.ReasonChildBeingDeleted, Message: "Service old is to be deleted", ReadyReplicas: 2, ReadyRevision: "r2"}},
		{name: "its stack is paused before the update", progress: progress{box: box(2, failing)}, paused: true, last: "r1",
			want: modelv1.ModelStackComponentStatus{State: modelv1.ComponentProgressing, Reason: modelv1.ReasonPaused, Message: "the stack is paused", ReadyReplicas: 2, ReadyRevision: "r1"}},
		{name: "its stack is paused after the update", progress: progress{isCurrent: true, box: box(2, failing)}, paused: true, stallsLater: true,
			want: modelv1.ModelStackComponentStatus{State: modelv1.ComponentProgressing, Reason: "CrashLoopBackOff", Message: "exit code 1", ReadyReplicas: 2}},
		{name: "its box fails", progress: progress{isCurrent: true, box: box(2, failing)}, last: "r1", stallsLater: true,
			want: modelv1.ModelStackComponentStatus{State: modelv1.ComponentProgressing, Reason: "CrashLoopBackOff", Message: "exit code 1", ReadyReplicas: 2, ReadyRevision: "r1"}},
		{name: "its box has stalled", progress: progress{isCurrent: true, box: box(2, failing, condition(modelv1.ConditionStalled, metav1.ConditionTrue, modelv1.ReasonJobFailed, long))},
			want: modelv1.ModelStackComponentStatus{State: modelv1.ComponentStalled, Reason: modelv1.ReasonJobFailed, Message: message.Truncate(long), ReadyReplicas: 2}},
		{name: "its box had stalled", progress: progress{isCurrent: true, box: box(2, failing, condition(modelv1.ConditionStalled, metav1.ConditionFalse, "", ""))}, stallsLater: true,
			want: modelv1.ModelStackComponentStatus{State: modelv1.ComponentProgressing, Reason: "CrashLoopBackOff", Message: "exit code 1", ReadyReplicas: 2}},
		{name: "the cache has the box before the update", progress: progress{box: box(2, failing)}, stallsLater: true,
			want: modelv1.ModelStackComponentStatus{State: modelv1.ComponentProgressing, Reason: modelv1.ReasonProgressing, Message: "waiting for the update to be observed", ReadyReplicas: 2}},
		{name: "it has no box yet", progress: progress{}, stallsLater: true,
			want: modelv1.ModelStackComponentStatus{State: modelv1.ComponentProgressing, Reason: modelv1.ReasonProgressing, Message: "waiting for the update to be observed"}},
		{name: "the controller has not observed the box", progress: progress{isCurrent: true, box: box(1, failing)}, stallsLater: true,
			want: modelv1.ModelStackComponentStatus{State: modelv1.ComponentProgressing, Reason: modelv1.ReasonProgressing, Message: "waiting for the box to be observed", ReadyReplicas: 2}},
		{name: "the box has no conditions", progress: progress{isCurrent: true, box: box(2)}, stallsLater: true,
			want: modelv1.ModelStackComponentStatus{State: modelv1.ComponentProgressing, Reason: modelv1.ReasonPending, Message: "the controller has not seen the box yet", ReadyReplicas: 2}},
	} {
		t.Run(row.name, func(t *testing.T) {
			s := &survey{stack: newStack()}
			s.stack.Spec.Paused = row.paused
			if row.last != "" {
				s.lastStates = map[string]*modelv1.ModelStackComponentStatus{"web": {ReadyRevision: row.last}}
			}
			web := boxComponent("web")
			row.progress.component, row.progress.revision = &component{ModelStackComponent: &web}, "r2"
			got, stallsAfter := componentStatus(s, &row.progress, &children.Result{}, now)
			row.want.Name, row.want.LastProgressTime = "web", got.LastProgressTime
			check(t, "status", row.want, got)
			wantAfter := time.Duration(0)
			if row.stallsLater {
				wantAfter = helper.DefaultProgressDeadline
			}
			check(t, "stalls after", wantAfter, stallsAfter)
		})
	}
}

func TestProgressOfAComponent(t *testing.T) {
	const progressing, stalled, ready, failing = modelv1.ComponentProgressing, modelv1.ComponentStalled, modelv1.ComponentReady, "CrashLoopBackOff"
	status := func(state modelv1.ComponentState, readyReplicas int32, reason, text string) modelv1.ModelStackComponentStatus {
		return modelv1.ModelStackComponentStatus{State: state, ReadyReplicas: readyReplicas, Reason: reason, Message: text}
	}
	for _, row := range []struct {
		name      string
		last, now modelv1.ModelStackComponentStatus
		want      bool
	}{
		{"nothing changes", status(progressing, 1, modelv1.ReasonProgressing, "1 of 2"), status(progressing, 1, modelv1.ReasonProgressing, "1 of 2"), false},
		{"the rollout gets further", status(progressing, 1, modelv1.ReasonProgressing, "1 of 2"), status(progressing, 1, modelv1.ReasonProgressing, "2 of 2"), true},
		{"more pods are ready", status(progressing, 1, failing, "a"), status(progressing, 2, failing, "a"), true},
		{"the pods fail in another way", status(progressing, 1, failing, "a"), status(progressing, 1, failing, "b"), false},
		{"the pods begin to fail", status(progressing, 1, modelv1.ReasonProgressing, "a"), status(progressing, 1, failing, "b"), false},
		{"the pods do not fail for a moment", status(progressing, 1, failing, "a"), status(progressing, 1, modelv1.ReasonProgressing, "b"), false},
		{"the component becomes ready", status(progressing, 1, failing, "a"), status(ready, 1, "", ""), true},
		{"the component stalls", status(progressing, 1, failing, "a"), status(stalled, 0, failing, "a"), false},
		{"a stalled component tries again", status(stalled, 1, failing, "a"), status(progressing, 1, failing, "a"), false},
		{"a stalled component gets more pods", status(stalled, 1, failing, "a"), status(progressing, 2, failing, "a"), true},
		{"a stalled component becomes ready", status(stalled, 1, failing, "a"), status(ready, 1, "", ""), true},
		{"a component stays paused", status(progressing, 1, modelv1.ReasonPaused, "a"), status(progressing, 1, modelv1.ReasonPaused, "b"), false},
		{"a component is paused", status(progressing, 1, failing, "a"), status(progressing, 1, modelv1.ReasonPaused, "b"), false},
		{"a component is resumed", status(progressing, 1, modelv1.ReasonPaused, "a"), status(progressing, 1, failing, "a"), true},
	} {
		t.Run(row.name, func(t *testing.T) {
			check(t, "progress", row.want, hasProgressed(&row.last, &row.now))
		})
	}
}

func TestComponentStallsAtTheDeadline(t *testing.T) {
	now := time.Now()
	for _, row := range []struct {
		name   string
		since  time.Duration
		after  time.Duration
		reason string
	}{
		{"before the deadline", time.Minute - 1, 1, "CrashLoopBackOff"},
		{"at the deadline", time.Minute, 0, modelv1.ReasonProgressDeadlineExceeded},
		{"after the deadline", time.Minute + 1, 0, modelv1.ReasonProgressDeadlineExceeded},
	} {
		t.Run(row.name, func(t *testing.T) {
			status := &modelv1.ModelStackComponentStatus{
				State: modelv1.ComponentProgressing, Reason: "CrashLoopBackOff", LastProgressTime: &metav1.Time{Time: now.Add(-row.since)},
			}
			check(t, "stalls after", row.after, stallUnlessProgressing(status, time.Minute, now))
			check(t, "reason", row.reason, status.Reason)
			check(t, "it has stalled", row.after == 0, status.State == modelv1.ComponentStalled)
		})
	}
}
