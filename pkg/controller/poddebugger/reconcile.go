// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package poddebugger

import (
	"context"
	"fmt"
	"slices"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/klog/v2"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/children"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/reconciler"
)

// staleCacheRetry is after how long a PodDebugger is requeued whose own last write is not in a cache yet, or whose pods are not.
const staleCacheRetry = 50 * time.Millisecond

// reconcile brings the pods of one PodDebugger nearer to what it says. It returns after how long to requeue it although nothing
// happens, 0 for not at all, and an error to be tried again after a delay.
func (c *Controller) reconcile(ctx context.Context, key types.NamespacedName) (time.Duration, error) {
	// The PodDebugger is the cache's own: it is read, and copied where it is changed, which is when its status is written.
	debugger, err := c.debuggerLister.PodDebuggers(key.Namespace).Get(key.Name)
	if apierrors.IsNotFound(err) {
		c.forget(key)
		return 0, nil
	}
	if err != nil {
		return 0, fmt.Errorf("reading the PodDebugger: %w", err)
	}
	pods, err := c.pods.get(key.Namespace)
	if err != nil {
		return 0, err
	}
	if synced, failure := pods.hasSynced(); !synced {
		return c.awaitPods(ctx, debugger, failure)
	}
	for _, written := range []interface {
		EnsureReady(owner types.NamespacedName) error
	}{c.consistency, pods.consistency} {
		if err := written.EnsureReady(key); err != nil {
			klog.FromContext(ctx).V(4).Info("Waiting for a cache", "reason", err)
			return staleCacheRetry, nil
		}
	}
	if debugger.DeletionTimestamp != nil {
		return 0, c.reconcileDeletion(ctx, debugger, pods.list())
	}
	if isWritten, err := c.syncFinalizer(ctx, debugger); isWritten || err != nil {
		return 0, err
	}

	found, err := c.survey(debugger, pods.list())
	if err != nil {
		return 0, err
	}
	retry, err := c.addContainers(ctx, debugger, found, pods)
	if err != nil {
		return 0, err
	}
	if found.boxes, err = c.boxesOf(ctx, pods, slices.Concat(found.debugged, found.chosen)); err != nil {
		return 0, err
	}
	delay, err := c.updateStatus(ctx, debugger, statusOf(debugger, found))
	return reconciler.Soonest(delay, retry, found.timeToLive), err
}

// forget drops what is remembered of a PodDebugger that is gone, and the pods of its namespace with the last one.
func (c *Controller) forget(key types.NamespacedName) {
	c.consistency.Clear(key, "")
	c.pace.Forget(key)
	c.refusals.retain(key, nil)
	c.pods.release(key.Namespace, func() bool {
		others, err := c.debuggerLister.PodDebuggers(key.Namespace).List(labels.Everything())
		return err != nil || len(others) > 0
	})
}

// awaitPods says why the pods are not known where there is a failure, and looks again soon.
func (c *Controller) awaitPods(ctx context.Context, debugger *modelv1.PodDebugger, failure error) (time.Duration, error) {
	if failure == nil {
		return staleCacheRetry, nil
	}
	status := *debugger.Status.DeepCopy()
	verdict := reconciler.Verdict{Reason: children.Classify(failure).Reason, Message: "watching the pods of the namespace: " + failure.Error()}
	setConditions(&status, debugger.Generation, verdict, verdict)
	if _, err := c.updateStatus(ctx, debugger, status); err != nil {
		return 0, err
	}
	return time.Second, nil
}
