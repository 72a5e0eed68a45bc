// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package network

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/message"
)

// event records an event about the network.
func (c *Controller) event(network *modelv1.Network, eventType, reason, note string) {
	c.Recorder.Eventf(network, nil, eventType, reason, "Reconcile", "%s", message.Truncate(note))
}

// toldReasons are the reasons of the condition Ready that are worth an event.
var toldReasons = []string{
	modelv1.ReasonInUse, modelv1.ReasonNotOwned, modelv1.ReasonConflict, modelv1.ReasonForbidden, modelv1.ReasonQuotaExceeded,
	modelv1.ReasonInvalid, modelv1.ReasonRejected,
}

// recordTransitions records events about the changes from the last status to a new one. It reports no change twice.
func (c *Controller) recordTransitions(network *modelv1.Network, status *modelv1.NetworkStatus) {
	ready := meta.FindStatusCondition(status.Conditions, modelv1.ConditionReady)
	before := meta.FindStatusCondition(network.Status.Conditions, modelv1.ConditionReady)
	if before != nil && before.Reason == ready.Reason {
		return
	}
	switch {
	case ready.Status == metav1.ConditionTrue:
		c.event(network, corev1.EventTypeNormal, "NetworkReady", ready.Message)
	case slices.Contains(toldReasons, ready.Reason):
		c.event(network, corev1.EventTypeWarning, ready.Reason, ready.Message)
	}
}
