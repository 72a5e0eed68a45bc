// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package modelbox

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/reconciler"
)

// reportPanic says in the status and in an event of the box what happened.
func (c *Controller) reportPanic(ctx context.Context, key types.NamespacedName, failure *reconciler.PanicError) error {
	box, err := c.boxLister.ModelBoxes(key.Namespace).Get(key.Name)
	if err != nil {
		return ignoreNotFound(err)
	}
	c.eventf(box, corev1.EventTypeWarning, modelv1.ReasonError, "Reconcile", "%s", failure)
	_, err = c.updateStatus(ctx, box, panickedStatus(box, failure))
	return err
}

func ignoreNotFound(err error) error {
	if apierrors.IsNotFound(err) {
		return nil
	}
	return err
}

// panickedStatus is the last status of the box, which may no longer be true, but for the conditions that say so.
func panickedStatus(box *modelv1.ModelBox, failure *reconciler.PanicError) modelv1.ModelBoxStatus {
	status := *box.Status.DeepCopy()
	status.ObservedGeneration = box.Generation
	for condition, reason := range map[string]string{
		modelv1.ConditionApplied: modelv1.ReasonError,
		modelv1.ConditionReady:   modelv1.ReasonNotApplied,
	} {
		reconciler.SetCondition(&status.Conditions, box.Generation, condition, reconciler.Verdict{Reason: reason, Message: failure.Error()})
	}
	return status
}
