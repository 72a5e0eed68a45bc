// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package network

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/klog/v2"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/children"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/reconciler"
	networkrender "github.com/sharelinuxs/modelbox-apiserver/pkg/render/network"
)

// staleCacheRetry is after how long a network is requeued whose own last write is not in the cache yet.
const staleCacheRetry = 50 * time.Millisecond

// reconcile brings one network nearer to what it says. It returns after how long to requeue the network although nothing
// happens, 0 for not at all, and an error to be tried again after a delay. There may be both.
func (c *Controller) reconcile(ctx context.Context, key types.NamespacedName) (time.Duration, error) {
	// The network is the cache's own: it is read, and copied where it is changed, which is when its status is written.
	network, err := c.networkLister.Networks(key.Namespace).Get(key.Name)
	if apierrors.IsNotFound(err) {
		c.consistency.Clear(key, "")
		c.pace.Forget(key)
		c.children.Forget(key)
		return 0, nil
	}
	if err != nil {
		return 0, fmt.Errorf("reading the network: %w", err)
	}
	if err := c.consistency.EnsureReady(key); err != nil {
		klog.FromContext(ctx).V(4).Info("Waiting for a cache", "reason", err)
		return staleCacheRetry, nil
	}
	used, err := c.usageOf(network)
	if err != nil {
		return 0, err
	}
	if network.DeletionTimestamp != nil {
		c.children.Forget(key)
		return c.reconcileDeletion(ctx, network, used)
	}
	if isWritten, err := c.ensureFinalizer(ctx, network); isWritten || err != nil {
		return 0, err
	}

	result, err := c.children.Reconcile(ctx, network)
	if errors.Is(err, networkrender.ErrNoAddresses) {
		return c.updateStatus(ctx, network, statusOf(network, used, invalid(err)))
	}
	if err != nil {
		return 0, err
	}
	if slices.ContainsFunc(result.Failures, func(err error) bool { return children.Classify(err).IsStale }) {
		return 0, result.Err()
	}
	delay, err := c.updateStatus(ctx, network, statusOf(network, used, applied(result)))
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
