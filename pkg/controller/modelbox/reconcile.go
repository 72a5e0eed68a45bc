// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package modelbox

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/childkinds"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/helper"
	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/apply"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/children"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/modelbox/kinds"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/modelbox/rollouts"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/modelbox/status"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/reconciler"
	modelboxrender "github.com/sharelinuxs/modelbox-apiserver/pkg/render/modelbox"
)

// reconcile reconciles one box. Its results are the results of Reconcile in reconciler.Config. The rollout of the pods does not
// wait for a child that cannot be written.
func (c *Controller) reconcile(ctx context.Context, box *modelv1.ModelBox) (time.Duration, error) {
	storage, err := c.storage.ReconcileStorage(ctx, box)
	if err != nil {
		return 0, err
	}
	if storage.IsWritten {
		return reconciler.StaleCacheRetry, nil
	}
	podsHash := sync.OnceValues(func() (string, error) { return modelboxrender.PodsHash(box) })
	if err := c.rollouts.FindStableRecord(ctx, box, podsHash); err != nil {
		return 0, err
	}
	cached := c.rollouts.CachedWorkload(box)
	if err := c.resizes.Begin(ctx, box, cached, c.readWorkload); err != nil {
		return 0, err
	}
	runErr := c.cronJobs.RunRestarted(ctx, box, cached)
	holdsPods, err := c.holdsPods(box, podsHash)
	if err != nil {
		return 0, err
	}
	// The pods start once, with the hashes of their references.
	awaitsReferences, err := modelboxrender.AwaitsReferences(box)
	if err != nil {
		return 0, fmt.Errorf("rendering the references: %w", err)
	}
	holdsPods = holdsPods || awaitsReferences || runErr != nil
	result, err := c.children.ReconcileHolding(ctx, box, func(step *apply.Step) bool {
		return storage.Hold(step) || holdsJob(box, step) || rollouts.HoldsCandidate(box, step) || holdsPods && rollouts.HoldsPods(box, step)
	})
	if err != nil {
		return 0, err
	}
	c.storage.NoteRefusedGrowth(box, storage, result)
	result.Failures = append(result.Failures, storage.Failures...)
	c.reportUnrecorded(box, result.Rendered)
	if slices.ContainsFunc(result.Failures, func(err error) bool { return children.Classify(err).IsStale }) {
		return 0, result.Err()
	}
	observed, err := c.observe(ctx, box, result)
	if err != nil {
		return 0, err
	}
	observed.Unreleased = storage.Unreleased
	deleteAfter, err := c.rollouts.DeleteBlockingPod(ctx, box, result, observed)
	if err != nil {
		result.Failures = append(result.Failures, err)
		observed.Failures = result.Failures
	}
	resizeErr, err := c.observePods(ctx, box, podsHash, result, observed, awaitsReferences)
	if err != nil {
		return 0, errors.Join(err, result.Err())
	}
	for _, err := range []error{runErr, resizeErr, observed.Rollout.Failure, c.rollouts.DeletePodOfRollout(ctx, box, observed), c.rollouts.PruneJobs(ctx, box, observed)} {
		if err != nil {
			result.Failures = append(result.Failures, err)
			observed.Failures = result.Failures
		}
	}
	delay, err := c.reconcileStatus(ctx, box, observed)
	if err != nil {
		return 0, errors.Join(err, result.Err())
	}
	if err := c.rollouts.DeletePodWithoutStorage(ctx, box, observed); err != nil {
		return 0, errors.Join(err, result.Err())
	}
	retry, ok := children.RetryAfter(result.Failures)
	requeueAfter := reconciler.Soonest(delay, retry, status.FindPodFailures(box, observed).RecheckAfter, observed.Progress.TimeLeft, observed.Rollout.RecheckAfter, observed.Resize.RecheckAfter, observed.JobRecheckAfter, observed.IngressClass.RecheckAfter(), deleteAfter, result.RecheckAfter)
	if !ok {
		return requeueAfter, result.Err()
	}
	return requeueAfter, nil
}

// holdsPods is modelboxrender.HoldsPods for the workload in the cache.
func (c *Controller) holdsPods(box *modelv1.ModelBox, podsHash func() (string, error)) (bool, error) {
	if box.Spec.Before == nil {
		return false, nil
	}
	hash, err := podsHash()
	if err != nil || !modelboxrender.NeedsJob(box, modelv1.JobBefore, box.Status.Rollout, hash) {
		return false, err
	}
	live, err := c.workloadBeside(box, c.rollouts.CachedWorkload(box))
	if err != nil {
		return false, err
	}
	return modelboxrender.HoldsPods(box, live)
}

// observe returns what there is of a box after its children were reconciled.
func (c *Controller) observe(ctx context.Context, box *modelv1.ModelBox, result *children.Result) (*status.Observation, error) {
	pods, err := kinds.PodsOf(c.pods, apply.KeyOf(box))
	if err != nil {
		return nil, err
	}
	mountFailures, err := c.mountFailures(pods)
	if err != nil {
		return nil, err
	}
	pendingClaims, err := c.storage.PendingClaims(box)
	if err != nil {
		return nil, err
	}
	workload := c.rollouts.Record.Observed(apply.KeyOf(box), kinds.AsWorkload(result.Child(modelboxrender.WorkloadKind(box), box.Name)))
	if workload, err = c.withJobs(workload); err != nil {
		return nil, err
	}
	creationFailure, err := c.creationFailure(workload, pods)
	if err != nil {
		return nil, err
	}
	jobFailure, jobRecheckAfter := c.jobCreationFailure(ctx, workload)
	creationFailure = status.Worse(creationFailure, jobFailure)
	candidate := kinds.AsWorkload(result.Child(childkinds.Deployment.GroupVersionKind, helper.CandidateName(box.Name)))
	if candidate != nil {
		failure, err := c.creationFailure(candidate, pods)
		if err != nil {
			return nil, err
		}
		creationFailure = status.Worse(creationFailure, failure)
	}
	ingress := children.Observed[*networkingv1.Ingress](result, box.Name)
	ingressClass, err := kinds.IngressClassOf(ingress, c.ingresses, c.ingressClasses)
	if err != nil {
		return nil, err
	}
	return &status.Observation{
		Workload:        workload,
		Candidate:       candidate,
		Service:         children.Observed[*corev1.Service](result, box.Name),
		Ingress:         ingress,
		IngressClass:    ingressClass,
		HTTPRoute:       children.Observed[*gatewayv1.HTTPRoute](result, box.Name),
		GRPCRoute:       children.Observed[*gatewayv1.GRPCRoute](result, box.Name),
		Autoscaler:      children.Observed[*autoscalingv2.HorizontalPodAutoscaler](result, box.Name),
		Pods:            pods,
		MountFailures:   mountFailures,
		PendingClaims:   pendingClaims,
		CreationFailure: creationFailure,
		Progress:        c.rollouts.Progress.Observe(box, workload, c.Clock.Now()),
		Now:             c.Clock.Now(),
		Pending:         result.Pending,
		LostJob:         lostJob(box, workload, result.Rendered),
		JobRecheckAfter: jobRecheckAfter,
		Failures:        result.Failures,
		Ignored:         result.Ignored,

		LivenessFailures: c.livenessFailures(ctx, apply.KeyOf(box), workload, pods),
	}, nil
}

// observePods observes how the pods of the box get what the box asks for: by a resize in place, by a rollout, or not yet. The first error
// is a request of the resize that failed.
func (c *Controller) observePods(ctx context.Context, box *modelv1.ModelBox, podsHash func() (string, error), result *children.Result, observed *status.Observation, awaitsReferences bool) (failure, err error) {
	if observed.AwaitsReferences = awaitsReferences; awaitsReferences {
		observed.Rollout.Status, observed.Resize.Status = box.Status.Rollout, box.Status.Resize
		return nil, nil
	}
	var live modelboxrender.Live
	if box.Spec.Rollout != nil || box.Spec.ResizesInPlace() {
		if live, err = c.workloadBeside(box, result.Child(modelboxrender.WorkloadKind(box), box.Name)); err != nil {
			return nil, err
		}
	}
	resize, err := modelboxrender.ResizeOf(box, live)
	if err != nil {
		return nil, fmt.Errorf("comparing the resources of the pods: %w", err)
	}
	observed.Resize, failure = c.resizes.Reconcile(ctx, box, podsHash, resize, observed)
	if resize == nil {
		observed.Rollout, err = c.rollouts.ObserveRollout(ctx, box, podsHash, live, observed)
	} else {
		observed.Rollout.Status, err = rollouts.Resized(box, podsHash, observed)
	}
	return failure, err
}

// reconcileStatus writes the status of the box when it is not what was observed, and records the transitions as events. It
// returns after how long to requeue the box for what it put off, 0 for not at all.
func (c *Controller) reconcileStatus(ctx context.Context, box *modelv1.ModelBox, observed *status.Observation) (time.Duration, error) {
	status := status.Of(box, observed)
	delay, err := c.UpdateStatus(ctx, box, status)
	if err == nil && delay == 0 {
		c.recordRolloutComplete(box, &status, observed.Workload)
	}
	return delay, err
}
