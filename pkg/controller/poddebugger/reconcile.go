// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package poddebugger

import (
	"context"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/klog/v2"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/apply"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/children"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/reconciler"
)

// reconcile reconciles one PodDebugger, which may be being deleted. Its results are the results of Reconcile in reconciler.Config.
func (c *Controller) reconcile(ctx context.Context, debugger *modelv1.PodDebugger) (time.Duration, error) {
	key := apply.KeyOf(debugger)
	pods, err := c.pods.get(key.Namespace)
	if err != nil {
		return 0, err
	}
	if synced, failure := pods.hasSynced(); !synced {
		return c.awaitPods(ctx, debugger, failure)
	}
	if err := pods.consistency.EnsureReady(key); err != nil {
		klog.FromContext(ctx).V(4).Info("Waiting for a cache", "reason", err)
		return reconciler.StaleCacheRetry, nil
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
	delay, err := c.UpdateStatus(ctx, debugger, statusOf(debugger, found))
	return reconciler.Soonest(delay, retry, found.timeToLive), err
}

// releasePods drops the pods of the namespace with the last PodDebugger in it.
func (c *Controller) releasePods(_ context.Context, key types.NamespacedName) error {
	c.pods.release(key.Namespace, func() bool {
		others, err := c.debuggerLister.PodDebuggers(key.Namespace).List(labels.Everything())
		return err != nil || len(others) > 0
	})
	return nil
}

// awaitPods says why the pods are not known where there is a failure, and looks again soon.
func (c *Controller) awaitPods(ctx context.Context, debugger *modelv1.PodDebugger, failure error) (time.Duration, error) {
	if failure == nil {
		return reconciler.StaleCacheRetry, nil
	}
	status := *debugger.Status.DeepCopy()
	verdict := reconciler.Verdict{Reason: children.Classify(failure).Reason, Message: "watching the pods of the namespace: " + failure.Error()}
	setConditions(&status, debugger.Generation, verdict, verdict)
	if _, err := c.UpdateStatus(ctx, debugger, status); err != nil {
		return 0, err
	}
	return time.Second, nil
}
