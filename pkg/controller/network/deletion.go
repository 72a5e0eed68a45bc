// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package network

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/reconciler"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/timeout"
)

// maxNamed is how many boxes a message names.
const maxNamed = 10

// ensureFinalizer gives a network the finalizer before boxes rely on it. It returns whether the network was written, and is to
// be looked at again when the cache shows that.
func (c *Controller) ensureFinalizer(ctx context.Context, network *modelv1.Network) (bool, error) {
	if slices.Contains(network.Finalizers, modelv1.NetworkProtectionFinalizer) {
		return false, nil
	}
	return true, c.SetFinalizers(ctx, network, append(slices.Clone(network.Finalizers), modelv1.NetworkProtectionFinalizer))
}

// reconcileDeletion lets a network go that is being deleted when no box uses it, and says which do until then. The garbage
// collector deletes its child.
func (c *Controller) reconcileDeletion(ctx context.Context, network *modelv1.Network) (time.Duration, error) {
	used, err := c.usageOf(network)
	if err != nil {
		return 0, err
	}
	if !slices.Contains(network.Finalizers, modelv1.NetworkProtectionFinalizer) {
		return 0, nil
	}
	if len(used.boxes) == 0 {
		// The cache may not have the newest box yet.
		asking, err := c.boxesAsking(ctx, network)
		if err != nil {
			return 0, err
		}
		if len(asking) == 0 {
			return 0, c.SetFinalizers(ctx, network, slices.DeleteFunc(slices.Clone(network.Finalizers), func(finalizer string) bool {
				return finalizer == modelv1.NetworkProtectionFinalizer
			}))
		}
		used.boxes = asking
	}
	return c.UpdateStatus(ctx, network, deletingStatus(network, used))
}

// boxesAsking returns the names of the boxes that ask for the network, as the server has them.
func (c *Controller) boxesAsking(ctx context.Context, network *modelv1.Network) ([]string, error) {
	boxes, err := timeout.Request(ctx, func(ctx context.Context) (*modelv1.ModelBoxList, error) {
		return c.modelClient.ModelV1().ModelBoxes(network.Namespace).List(ctx, metav1.ListOptions{})
	})
	if err != nil {
		return nil, fmt.Errorf("listing the boxes of the namespace: %w", err)
	}
	var names []string
	for i := range boxes.Items {
		if slices.Contains(boxes.Items[i].Spec.Networks, network.Name) {
			names = append(names, boxes.Items[i].Name)
		}
	}
	slices.Sort(names)
	return names, nil
}

// deletingStatus is the status of a network that is being deleted and still used.
func deletingStatus(network *modelv1.Network, used *usage) modelv1.NetworkStatus {
	status := *network.Status.DeepCopy()
	status.ObservedGeneration = network.Generation
	setBoxes(&status, used)
	names := strings.Join(used.boxes[:min(len(used.boxes), maxNamed)], ", ")
	if more := len(used.boxes) - maxNamed; more > 0 {
		names = fmt.Sprintf("%s and %d more", names, more)
	}
	reconciler.SetCondition(&status.Conditions, network.Generation, modelv1.ConditionReady, reconciler.Verdict{
		Reason:  modelv1.ReasonInUse,
		Message: "the network is deleted once no box uses it: " + names,
	})
	return status
}
