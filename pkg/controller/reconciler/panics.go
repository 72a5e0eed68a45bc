// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package reconciler

import (
	"context"
	"fmt"
	"runtime/debug"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/klog/v2"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
)

// PanicError is a panic while one object was reconciled. It is a failure of this object alone.
type PanicError struct {
	// Value is what the panic was called with.
	Value any
}

func (e *PanicError) Error() string {
	return fmt.Sprintf("panic: %v; this is a defect of the server, whose log has the stack", e.Value)
}

// ReconcileSafely is ReconcileKey, but it reports a panic and returns it as an error.
func (f *For[T, S]) ReconcileSafely(ctx context.Context, key types.NamespacedName) (again time.Duration, err error) {
	defer func() {
		if value := recover(); value != nil {
			again, err = 0, f.recovered(ctx, key, value)
		}
	}()
	return f.ReconcileKey(ctx, key)
}

// recovered reports a panic, with the stack of the goroutine that is still in it, and returns it as an error.
func (f *For[T, S]) recovered(ctx context.Context, key types.NamespacedName, value any) error {
	failure := &PanicError{value}
	klog.FromContext(ctx).Error(failure, "Panic while reconciling", "stack", string(debug.Stack()))
	f.Metrics.panics.Inc()
	f.reportPanic(ctx, key, failure)
	return failure
}

// reportPanic is publishPanic, which may panic for the same reason.
func (f *For[T, S]) reportPanic(ctx context.Context, key types.NamespacedName, failure *PanicError) {
	defer func() {
		if again := recover(); again != nil {
			klog.FromContext(ctx).Error(&PanicError{again}, "Panic while reporting a panic", "stack", string(debug.Stack()))
		}
	}()
	if err := f.publishPanic(ctx, key, failure); err != nil {
		klog.FromContext(ctx).Error(err, "Reporting a panic in the status failed")
	}
}

// publishPanic says in an event and in the status of the object that its reconcile has panicked.
func (f *For[T, S]) publishPanic(ctx context.Context, key types.NamespacedName, failure *PanicError) error {
	object, err := f.Get(key.Namespace, key.Name)
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err != nil {
		return err
	}
	if f.RecordPanic != nil {
		f.RecordPanic(object, failure)
	} else {
		f.Eventf(object, nil, corev1.EventTypeWarning, modelv1.ReasonError, "Reconcile", "%s", failure)
	}
	if f.Status == nil {
		return nil
	}
	_, err = f.UpdateStatus(ctx, object, f.panickedStatus(object, failure))
	return err
}
