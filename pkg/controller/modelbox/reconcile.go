// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package modelbox

import (
	"context"
	"errors"
	"slices"
	"time"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/types"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/children"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/reconciler"
	modelboxrender "github.com/sharelinuxs/modelbox-apiserver/pkg/render/modelbox"
)

// reconcile brings one box nearer to what it says. Its results are those of reconciler.Config. What becomes of the pods does not
// wait for a child that cannot be written.
func (c *Controller) reconcile(ctx context.Context, box *modelv1.ModelBox) (time.Duration, error) {
	storage, err := c.reconcileStorage(ctx, box)
	if err != nil {
		return 0, err
	}
	if storage.isWritten {
		return reconciler.StaleCacheRetry, nil
	}
	if err := c.findStableRecord(ctx, box); err != nil {
		return 0, err
	}
	result, err := c.children.ReconcileHolding(ctx, box, storage.hold)
	if err != nil {
		return 0, err
	}
	c.noteRefusedGrowth(box, storage, result)
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
	deleteAfter, err := c.deleteBlockingPod(ctx, box, result, observed)
	if err != nil {
		result.Failures = append(result.Failures, err)
		observed.failures = result.Failures
	}
	if observed.rollout, err = c.observeRollout(ctx, box, observed); err != nil {
		return 0, errors.Join(err, result.Err())
	}
	delay, err := c.reconcileStatus(ctx, box, observed)
	if err != nil {
		return 0, errors.Join(err, result.Err())
	}
	if err := c.deletePodWithoutStorage(ctx, box, observed); err != nil {
		return 0, errors.Join(err, result.Err())
	}
	if err := c.deleteOutdatedPod(ctx, box, observed); err != nil {
		return 0, errors.Join(err, result.Err())
	}
	retry, ok := children.RetryAfter(result.Failures)
	requeueAfter := reconciler.Soonest(delay, retry, findPodFailures(box, observed).recheckAfter, observed.progress.timeLeft, observed.rollout.recheckAfter, observed.ingressClass.recheckAfter(), deleteAfter, result.RecheckAfter)
	if !ok {
		return requeueAfter, result.Err()
	}
	return requeueAfter, nil
}

// observation is what a reconcile found and did.
type observation struct {
	// workload, service, ingress, route and autoscaler are nil where there is none that belongs to the box.
	workload   workload
	service    *corev1.Service
	ingress    *networkingv1.Ingress
	route      *gatewayv1.HTTPRoute
	autoscaler *autoscalingv2.HorizontalPodAutoscaler
	pods       []*corev1.Pod
	// ingressClass is the class of the Ingress.
	ingressClass ingressClass
	// mountFailures say, by the UID of the pod, why pods wait for a volume.
	mountFailures map[types.UID]string
	// pendingClaims say, by the name of the claim, what storage pods wait for.
	pendingClaims map[string]string
	// livenessFailures say what the liveness probes of containers found that were restarted and have not recovered.
	livenessFailures map[containerID]string
	// creationFailure is why pods are not even created, nil when they are.
	creationFailure *podFailure
	// progress is how a rollout gets on of whose progress the workload does not tell.
	progress progress
	// rollout is what becomes of the rollout, where the box asks for that.
	rollout rolloutObservation
	now     time.Time
	// pending are the kinds of children that the box is paused before.
	pending []string
	// unreleased are the names of storage that is retained and whose claims the box may still own.
	unreleased []string
	// failures are what kept children from being what the box says.
	failures []error
	// ignored are fields of children that other managers have set and may have.
	ignored []children.IgnoredDrift
}

// observe returns what there is of a box after its children were reconciled.
func (c *Controller) observe(ctx context.Context, box *modelv1.ModelBox, result *children.Result) (*observation, error) {
	pods, err := c.podsOf(reconciler.KeyOf(box))
	if err != nil {
		return nil, err
	}
	mountFailures, err := c.mountFailures(pods)
	if err != nil {
		return nil, err
	}
	pendingClaims, err := c.pendingClaims(box)
	if err != nil {
		return nil, err
	}
	workload := c.rollouts.observed(reconciler.KeyOf(box), asWorkload(result.Child(modelboxrender.WorkloadKind(box), box.Name)))
	creationFailure, err := c.creationFailure(workload, pods)
	if err != nil {
		return nil, err
	}
	ingress := children.Observed[*networkingv1.Ingress](result, box.Name)
	ingressClass, err := c.ingressClassOf(ingress)
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
		progress:        c.progress.observe(box, workload),
		now:             c.Clock.Now(),
		pending:         result.Pending,
		failures:        result.Failures,
		ignored:         result.Ignored,

		livenessFailures: c.livenessFailures(ctx, reconciler.KeyOf(box), workload, pods),
	}, nil
}
