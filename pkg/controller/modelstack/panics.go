// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package modelstack

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/reconciler"
)

// reportPanic says in the status and in an event of the stack what happened.
func (c *Controller) reportPanic(ctx context.Context, key types.NamespacedName, failure *reconciler.PanicError) error {
	stack, err := c.stackLister.ModelStacks(key.Namespace).Get(key.Name)
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err != nil {
		return err
	}
	c.eventf(stack, nil, corev1.EventTypeWarning, modelv1.ReasonError, "%s", failure)
	status := *stack.Status.DeepCopy()
	status.ObservedGeneration = stack.Generation
	setCondition(&status.Conditions, stack.Generation, modelv1.ConditionApplied, verdict{false, modelv1.ReasonError, failure.Error()})
	setCondition(&status.Conditions, stack.Generation, modelv1.ConditionReady, verdict{false, modelv1.ReasonNotApplied, failure.Error()})
	_, err = c.updateStatus(ctx, stack, status)
	return err
}
