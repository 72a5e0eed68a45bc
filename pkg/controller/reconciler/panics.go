// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package reconciler

import (
	"context"
	"fmt"
	"runtime/debug"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/klog/v2"
)

// PanicError is a panic while one object was reconciled. It is a failure of this object alone.
type PanicError struct {
	// Value is what the panic was called with.
	Value any
}

func (e *PanicError) Error() string {
	return fmt.Sprintf("panic: %v; this is a defect of the server, whose log has the stack", e.Value)
}

// ReconcileSafely is Reconcile, but it reports a panic and returns it as an error.
func (r *Reconciler) ReconcileSafely(ctx context.Context, key types.NamespacedName) (again time.Duration, err error) {
	defer func() {
		if value := recover(); value != nil {
			again, err = 0, r.recovered(ctx, key, value)
		}
	}()
	return r.Reconcile(ctx, key)
}

// recovered reports a panic, with the stack of the goroutine that is still in it, and returns it as an error.
func (r *Reconciler) recovered(ctx context.Context, key types.NamespacedName, value any) error {
	failure := &PanicError{value}
	klog.FromContext(ctx).Error(failure, "Panic while reconciling", "stack", string(debug.Stack()))
	r.Metrics.panics.Inc()
	r.reportPanic(ctx, key, failure)
	return failure
}

// reportPanic calls ReportPanic, which may panic for the same reason.
func (r *Reconciler) reportPanic(ctx context.Context, key types.NamespacedName, failure *PanicError) {
	defer func() {
		if again := recover(); again != nil {
			klog.FromContext(ctx).Error(&PanicError{again}, "Panic while telling of a panic", "stack", string(debug.Stack()))
		}
	}()
	if err := r.ReportPanic(ctx, key, failure); err != nil {
		klog.FromContext(ctx).Error(err, "Telling of a panic in the status failed")
	}
}
