// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package modelbox

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/children"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/reconciler"
	modelboxrender "github.com/sharelinuxs/modelbox-apiserver/pkg/render/modelbox"
)

// reconcile brings one box nearer to what it says. Its results are those of reconciler.Config. What becomes of the pods does not
// wait for a child that cannot be written.
func (c *Controller) reconcile(ctx context.Context, box *modelv1.ModelBox) (time.Duration, error) {
	storage, err := c.storage.reconcileStorage(ctx, box)
	if err != nil {
		return 0, err
	}
	if storage.isWritten {
		return reconciler.StaleCacheRetry, nil
	}
	podsHash := sync.OnceValues(func() (string, error) { return modelboxrender.PodsHash(box) })
	if err := c.rollouts.findStableRecord(ctx, box, podsHash); err != nil {
		return 0, err
	}
	result, err := c.children.ReconcileHolding(ctx, box, storage.hold)
	if err != nil {
		return 0, err
	}
	c.storage.noteRefusedGrowth(box, storage, result)
	result.Failures = append(result.Failures, storage.failures...)
	c.reportUnrecorded(box, result.Rendered)
	if slices.ContainsFunc(result.Failures, func(err error) bool { return children.Classify(err).IsStale }) {
		return 0, result.Err()
	}
	observed, err := c.observe(ctx, box, result)
	if err != nil {
		return 0, err
	}
	observed.unreleased = storage.unreleased
	deleteAfter, err := c.rollouts.deleteBlockingPod(ctx, box, result, observed)
	if err != nil {
		result.Failures = append(result.Failures, err)
		observed.failures = result.Failures
	}
	if observed.rollout, err = c.rollouts.observeRollout(ctx, box, podsHash, observed); err != nil {
		return 0, errors.Join(err, result.Err())
	}
	delay, err := c.reconcileStatus(ctx, box, observed)
	if err != nil {
		return 0, errors.Join(err, result.Err())
	}
	if err := c.rollouts.deletePodWithoutStorage(ctx, box, observed); err != nil {
		return 0, errors.Join(err, result.Err())
	}
	if err := c.rollouts.deleteOutdatedPod(ctx, box, observed); err != nil {
		return 0, errors.Join(err, result.Err())
	}
	retry, ok := children.RetryAfter(result.Failures)
	requeueAfter := reconciler.Soonest(delay, retry, findPodFailures(box, observed).recheckAfter, observed.progress.timeLeft, observed.rollout.recheckAfter, observed.ingressClass.recheckAfter(), deleteAfter, result.RecheckAfter)
	if !ok {
		return requeueAfter, result.Err()
	}
	return requeueAfter, nil
}

// observe returns what there is of a box after its children were reconciled.
func (c *Controller) observe(ctx context.Context, box *modelv1.ModelBox, result *children.Result) (*observation, error) {
	pods, err := podsOf(c.pods, reconciler.KeyOf(box))
	if err != nil {
		return nil, err
	}
	mountFailures, err := c.mountFailures(pods)
	if err != nil {
		return nil, err
	}
	pendingClaims, err := c.storage.pendingClaims(box)
	if err != nil {
		return nil, err
	}
	workload := c.rollouts.record.observed(reconciler.KeyOf(box), asWorkload(result.Child(modelboxrender.WorkloadKind(box), box.Name)))
	creationFailure, err := c.creationFailure(workload, pods)
	if err != nil {
		return nil, err
	}
	ingress := children.Observed[*networkingv1.Ingress](result, box.Name)
	ingressClass, err := ingressClassOf(ingress, c.ingresses, c.ingressClasses)
	if err != nil {
		return nil, err
	}
	return &observation{
		workload:        workload,
		service:         children.Observed[*corev1.Service](result, box.Name),
		ingress:         ingress,
		ingressClass:    ingressClass,
		route:           children.Observed[*gatewayv1.HTTPRoute](result, box.Name),
		autoscaler:      children.Observed[*autoscalingv2.HorizontalPodAutoscaler](result, box.Name),
		pods:            pods,
		mountFailures:   mountFailures,
		pendingClaims:   pendingClaims,
		creationFailure: creationFailure,
		progress:        c.rollouts.progress.observe(box, workload, c.Clock.Now()),
		now:             c.Clock.Now(),
		pending:         result.Pending,
		failures:        result.Failures,
		ignored:         result.Ignored,

		livenessFailures: c.livenessFailures(ctx, reconciler.KeyOf(box), workload, pods),
	}, nil
}

// reconcileStatus writes the status of the box when it is not what was observed, and records the transitions as events. It
// returns after how long to requeue the box for what it put off, 0 for not at all.
func (c *Controller) reconcileStatus(ctx context.Context, box *modelv1.ModelBox, observed *observation) (time.Duration, error) {
	status := statusOf(box, observed)
	delay, err := c.UpdateStatus(ctx, box, status)
	if err == nil && delay == 0 {
		c.recordRolloutComplete(box, &status, observed.workload)
	}
	return delay, err
}
