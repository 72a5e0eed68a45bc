// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package cliutil

import (
	"slices"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
)

// Summary is the state of a box or a stack, in the words of the tables that the server prints.
type Summary struct {
	// Reason is one word, Message one line for people.
	Reason, Message string
	// IsReady says that the object is what its present spec says, and ready.
	IsReady bool
	// IsStalled says that the object will not become what its spec says until a user or another controller changes something.
	IsStalled bool
}

// SummaryOf sums up the conditions of a box or a stack. It ignores conditions of an older generation.
func SummaryOf(object metav1.Object, conditions []metav1.Condition) Summary {
	current := slices.DeleteFunc(slices.Clone(conditions), func(c metav1.Condition) bool {
		return c.ObservedGeneration < object.GetGeneration()
	})
	ready, stalled := meta.FindStatusCondition(current, modelv1.ConditionReady), meta.FindStatusCondition(current, modelv1.ConditionStalled)
	switch {
	case object.GetDeletionTimestamp() != nil:
		return Summary{Reason: "Terminating", Message: "it is being deleted"}
	case ready == nil && len(conditions) > 0:
		return Summary{Reason: modelv1.ReasonPending, Message: "the controller has not seen the last change yet"}
	case ready == nil:
		return Summary{Reason: modelv1.ReasonPending, Message: "the controller has not seen it yet"}
	}
	return Summary{
		Reason:    ready.Reason,
		Message:   ready.Message,
		IsReady:   ready.Status == metav1.ConditionTrue,
		IsStalled: stalled != nil && stalled.Status == metav1.ConditionTrue,
	}
}

// DesiredReplicas returns the number in the table of boxes: an autoscaler may decide it, and a DaemonSet, a Job and a CronJob have no
// replicas in the spec.
func DesiredReplicas(box *modelv1.ModelBox) int32 {
	desired := ptr.Deref(box.Status.DesiredReplicas, 0)
	switch {
	case !box.Spec.Workload.HasReplicas():
		return desired
	case box.Status.DesiredReplicas != nil && box.Status.ObservedGeneration == box.Generation:
		return desired
	}
	return ptr.Deref(box.Spec.Replicas, modelv1.DefaultReplicas)
}
