// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package network

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/reconciler"
)

// reportPanic says in the status and in an event of the network what happened.
func (c *Controller) reportPanic(ctx context.Context, key types.NamespacedName, failure *reconciler.PanicError) error {
	network, err := c.networkLister.Networks(key.Namespace).Get(key.Name)
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err != nil {
		return err
	}
	c.event(network, corev1.EventTypeWarning, modelv1.ReasonError, failure.Error())
	status := *network.Status.DeepCopy()
	status.ObservedGeneration = network.Generation
	for _, condition := range []string{modelv1.ConditionApplied, modelv1.ConditionReady} {
		reconciler.SetCondition(&status.Conditions, network.Generation, condition, reconciler.Verdict{Reason: modelv1.ReasonError, Message: failure.Error()})
	}
	_, err = c.updateStatus(ctx, network, status)
	return err
}
