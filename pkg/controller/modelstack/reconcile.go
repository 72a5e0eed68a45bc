// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package modelstack

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/klog/v2"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apply"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/children"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/reconciler"
)

// staleCacheRetry is after how long a stack is requeued whose own last write is not in the cache yet.
const staleCacheRetry = 50 * time.Millisecond

// reconcile brings one stack nearer to what it says. It returns after how long to requeue the stack although nothing
// happens, 0 for not at all, and an error to be tried again after a delay. There may be both.
func (c *Controller) reconcile(ctx context.Context, key types.NamespacedName) (time.Duration, error) {
	// The stack is the cache's own: it is read, and copied where it is changed, which is when its status is written.
	stack, err := c.stackLister.ModelStacks(key.Namespace).Get(key.Name)
	if apierrors.IsNotFound(err) {
		c.consistency.Clear(key, "")
		c.pace.Forget(key)
		c.unwritten.forget(key)
		c.children.Forget(key)
		return 0, c.deleteOrphanedRecords(ctx, key, "")
	}
	if err != nil {
		return 0, fmt.Errorf("reading the stack: %w", err)
	}
	if err := c.consistency.EnsureReady(key); err != nil {
		klog.FromContext(ctx).V(4).Info("Waiting for a cache", "reason", err)
		return staleCacheRetry, nil
	}
	if err := c.deleteOrphanedRecords(ctx, key, stack.UID); err != nil {
		return 0, err
	}
	if stack.DeletionTimestamp != nil {
		c.children.Forget(key)
		return c.reconcileDeletion(ctx, stack)
	}
	if isWritten, err := c.ensureFinalizer(ctx, stack); isWritten || err != nil {
		return 0, err
	}

	s, err := c.surveyOf(stack)
	if err != nil {
		return 0, err
	}
	c.recordReady(s)
	result, err := c.children.ReconcileHolding(ctx, stack, func(step *apply.Step) bool { return c.hold(s, step) })
	if err != nil {
		return 0, err
	}
	if slices.ContainsFunc(result.Failures, func(err error) bool { return children.Classify(err).IsStale }) {
		return 0, result.Err()
	}
	status, recheck := statusOf(s, result, c.clock.Now())
	delay, err := c.updateStatus(ctx, stack, status)
	if err != nil {
		return 0, errors.Join(err, result.Err())
	}
	retry, ok := children.RetryAfter(result.Failures)
	requeueAfter := reconciler.Soonest(delay, retry, recheck, result.RecheckAfter)
	if !ok {
		return requeueAfter, result.Err()
	}
	return requeueAfter, nil
}
