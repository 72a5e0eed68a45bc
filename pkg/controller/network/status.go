// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package network

import (
	"slices"
	"strings"

	apiequality "k8s.io/apimachinery/pkg/api/equality"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/children"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/reconciler"
	networkrender "github.com/sharelinuxs/modelbox-apiserver/pkg/render/network"
)

// isMereProgress returns whether only numbers of addresses differ: no client waits for those.
func isMereProgress(before, after *modelv1.NetworkStatus) bool {
	lasting := *before
	lasting.UsedAddresses, lasting.FreeAddresses = after.UsedAddresses, after.FreeAddresses
	return apiequality.Semantic.DeepEqual(&lasting, after)
}

// statusOf computes the status of a network from its users and from the result for its children.
func statusOf(network *modelv1.Network, used *usage, applied reconciler.Verdict) modelv1.NetworkStatus {
	status := modelv1.NetworkStatus{
		ObservedGeneration: network.Generation,
		UsedAddresses:      int32(used.addresses),
		Conditions:         slices.Clone(network.Status.Conditions),
	}
	setBoxes(&status, used)
	// A range without an address for a pod has a condition for that.
	if capacity, err := networkrender.Capacity(&network.Spec); err == nil {
		status.FreeAddresses = max(0, capacity-status.UsedAddresses)
	}
	ready := reconciler.Verdict{IsTrue: true, Reason: modelv1.ReasonReady, Message: "pods can be attached to the network"}
	if !applied.IsTrue {
		ready = reconciler.Verdict{Reason: applied.Reason, Message: applied.Message}
	}
	reconciler.SetCondition(&status.Conditions, network.Generation, modelv1.ConditionReady, ready)
	reconciler.SetCondition(&status.Conditions, network.Generation, modelv1.ConditionApplied, applied)
	return status
}

// setBoxes lists the boxes that use the network, as many as a status has room for.
func setBoxes(status *modelv1.NetworkStatus, used *usage) {
	status.Boxes = used.boxes[:min(len(used.boxes), modelv1.MaxNetworkBoxes)]
	status.BoxesOmitted = int32(len(used.boxes) - len(status.Boxes))
	if len(status.Boxes) == 0 {
		status.Boxes = nil
	}
}

// applied says what became of the children.
func applied(result *children.Result) reconciler.Verdict {
	if len(result.Failures) == 0 {
		return reconciler.Verdict{IsTrue: true, Reason: modelv1.ReasonApplied, Message: "the NetworkAttachmentDefinition is up to date"}
	}
	lines := make([]string, 0, len(result.Failures))
	for _, failure := range result.Failures {
		lines = append(lines, failure.Error())
	}
	return reconciler.Verdict{Reason: children.Classify(result.Failures[0]).Reason, Message: strings.Join(lines, "\n")}
}

// invalid says that no child can be as the network says.
func invalid(err error) reconciler.Verdict {
	return reconciler.Verdict{Reason: modelv1.ReasonInvalid, Message: err.Error()}
}
