// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package network

import (
	"context"
	"errors"
	"slices"
	"time"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/children"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/reconciler"
	networkrender "github.com/sharelinuxs/modelbox-apiserver/pkg/render/network"
)

// reconcile reconciles one network. Its results are the results of Reconcile in reconciler.Config.
func (c *Controller) reconcile(ctx context.Context, network *modelv1.Network) (time.Duration, error) {
	used, err := c.usageOf(network)
	if err != nil {
		return 0, err
	}
	if isWritten, err := c.ensureFinalizer(ctx, network); isWritten || err != nil {
		return 0, err
	}

	result, err := c.children.Reconcile(ctx, network)
	if errors.Is(err, networkrender.ErrNoAddresses) {
		return c.UpdateStatus(ctx, network, statusOf(network, used, invalid(err)))
	}
	if err != nil {
		return 0, err
	}
	if slices.ContainsFunc(result.Failures, func(err error) bool { return children.Classify(err).IsStale }) {
		return 0, result.Err()
	}
	delay, err := c.UpdateStatus(ctx, network, statusOf(network, used, applied(result)))
	if err != nil {
		return 0, errors.Join(err, result.Err())
	}
	retry, ok := children.RetryAfter(result.Failures)
	requeueAfter := reconciler.Soonest(delay, retry)
	if !ok {
		return requeueAfter, result.Err()
	}
	return requeueAfter, nil
}
