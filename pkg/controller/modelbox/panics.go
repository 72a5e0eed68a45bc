// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package modelbox

import (
	"context"
	"fmt"
	"runtime/debug"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/klog/v2"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/message"
)

// panicError is a panic while one box was reconciled. It is that box's failure, and nobody else's.
type panicError struct{ value any }

func (e *panicError) Error() string {
	return fmt.Sprintf("panic: %v; this is a defect of the server, whose log has the stack", e.value)
}

// reconcileSafely is reconcile, with a panic as an error that the status and an event of the box tell.
func (c *Controller) reconcileSafely(ctx context.Context, key types.NamespacedName) (again time.Duration, err error) {
	defer func() {
		if value := recover(); value != nil {
			again, err = 0, c.recovered(ctx, key, value)
		}
	}()
	return c.reconcile(ctx, key)
}

// recovered tells of a panic, with the stack of the goroutine that is still in it, and returns it as an error.
func (c *Controller) recovered(ctx context.Context, key types.NamespacedName, value any) error {
	failure := &panicError{value}
	klog.FromContext(ctx).Error(failure, "Panic while reconciling", "stack", string(debug.Stack()))
	c.metrics.panics.Inc()
	c.tellPanic(ctx, key, failure)
	return failure
}

// tellPanic says in the status and in an event of the box what happened. It may panic for the same reason.
func (c *Controller) tellPanic(ctx context.Context, key types.NamespacedName, failure *panicError) {
	logger := klog.FromContext(ctx)
	defer func() {
		if again := recover(); again != nil {
			logger.Error(&panicError{again}, "Panic while telling of a panic", "stack", string(debug.Stack()))
		}
	}()
	box, err := c.boxLister.ModelBoxes(key.Namespace).Get(key.Name)
	if err != nil {
		return
	}
	if _, err := c.updateStatus(ctx, box, panickedStatus(box, failure)); err != nil {
		logger.Error(err, "Telling of a panic in the status failed")
	}
	c.eventf(box, corev1.EventTypeWarning, modelv1.ReasonError, "Reconcile", "%s", failure)
}

// panickedStatus is the last status of the box, which may no longer be true, but for the conditions that say so.
func panickedStatus(box *modelv1.ModelBox, failure *panicError) modelv1.ModelBoxStatus {
	status := *box.Status.DeepCopy()
	status.ObservedGeneration = box.Generation
	for condition, reason := range map[string]string{
		modelv1.ConditionApplied: modelv1.ReasonError,
		modelv1.ConditionReady:   modelv1.ReasonNotApplied,
	} {
		meta.SetStatusCondition(&status.Conditions, metav1.Condition{
			Type:               condition,
			Status:             metav1.ConditionFalse,
			Reason:             reason,
			Message:            message.Truncate(failure.Error()),
			ObservedGeneration: box.Generation,
		})
	}
	return status
}
