// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package network

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	apiequality "k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/children"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/reconciler"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/timeout"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/render"
	networkrender "github.com/sharelinuxs/modelbox-apiserver/pkg/render/network"
)

// updateStatus writes the status of the network if it differs from the present one, and records the transitions as events. It
// returns after how long to requeue the network for a write that it put off, 0 for not at all.
func (c *Controller) updateStatus(ctx context.Context, network *modelv1.Network, status modelv1.NetworkStatus) (time.Duration, error) {
	if apiequality.Semantic.DeepEqual(network.Status, status) {
		return 0, nil
	}
	if isMereProgress(&network.Status, &status) {
		if delay := c.pace.ProgressDelay(keyOf(network)); delay > 0 {
			return delay, nil
		}
	}
	changed := network.DeepCopy()
	changed.Status = status
	updated, err := timeout.Request(ctx, func(ctx context.Context) (*modelv1.Network, error) {
		return c.modelClient.ModelV1().Networks(network.Namespace).UpdateStatus(ctx, changed, metav1.UpdateOptions{FieldManager: render.FieldManager})
	})
	if apierrors.IsNotFound(err) {
		return 0, fmt.Errorf("the network %w", children.ErrOwnerChanged)
	}
	if err != nil {
		return 0, fmt.Errorf("writing the status: %w", err)
	}
	c.consistency.WroteAt(keyOf(network), network.UID, networkResource, updated.ResourceVersion)
	c.pace.Wrote(keyOf(network))
	c.recordTransitions(network, &status)
	return 0, nil
}

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
