// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package modelstack

import (
	"context"
	"errors"
	"slices"
	"time"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/apply"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/children"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/reconciler"
)

// reconcile reconciles one stack. Its results are the results of Reconcile in reconciler.Config.
func (c *Controller) reconcile(ctx context.Context, stack *modelv1.ModelStack) (time.Duration, error) {
	if err := c.deleteOrphanedRecords(ctx, apply.KeyOf(stack), stack.UID); err != nil {
		return 0, err
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
	status, recheck := statusOf(s, result, c.Clock.Now())
	delay, err := c.UpdateStatus(ctx, stack, status)
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
