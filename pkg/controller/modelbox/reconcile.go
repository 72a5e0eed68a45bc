// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package modelbox

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/klog/v2"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
)

// reconcile brings one box nearer to what it says. It returns how soon to look again although nothing happens, 0
// for not at all, and an error to be tried again after a delay. There may be both: what becomes of the pods does not
// wait for a child that cannot be written.
func (c *Controller) reconcile(ctx context.Context, key types.NamespacedName) (time.Duration, error) {
	// The box is the cache's own: it is read, and copied where it is changed, which is when its status is written.
	box, err := c.boxLister.ModelBoxes(key.Namespace).Get(key.Name)
	if apierrors.IsNotFound(err) {
		c.consistency.Clear(key, "")
		c.applied.forget(key)
		c.pace.forget(key)
		c.rollouts.forget(key)
		c.unrecorded.Delete(key)
		c.taken.forget(key)
		return 0, nil
	}
	if err != nil {
		return 0, fmt.Errorf("reading the box: %w", err)
	}
	// The garbage collector deletes the children of a box that is being deleted, in the way its user asked for.
	if box.DeletionTimestamp != nil {
		c.taken.forget(key)
		return 0, nil
	}
	if err := c.consistency.EnsureReady(key); err != nil {
		klog.FromContext(ctx).V(4).Info("Waiting for a cache", "reason", err)
		return staleCacheRetry, nil
	}

	deployment, err := c.cachedDeployment(key)
	if err != nil {
		return 0, err
	}
	rendered, err := c.render(box, deployment)
	if err != nil {
		return 0, err
	}
	c.tellUnrecorded(box, rendered[0])
	steps, err := c.plan(box, rendered)
	if err != nil {
		return 0, fmt.Errorf("comparing the children: %w", err)
	}
	observed := c.reconcileChildren(ctx, box, steps)
	observed.now = c.clock.Now()
	if !slices.ContainsFunc(observed.failures, isNotOwned) {
		c.taken.forget(key)
	}
	if slices.ContainsFunc(observed.failures, isOfThePast) {
		// The cache was behind. What there is now, the next try will see.
		return 0, observed.failure()
	}
	if observed.pods, err = c.podsOf(key); err != nil {
		return 0, err
	}
	if observed.mountFailures, err = c.mountFailures(observed.pods); err != nil {
		return 0, err
	}
	delay, err := c.reconcileStatus(ctx, box, observed)
	if err != nil {
		return 0, errors.Join(err, observed.failure())
	}
	after, ok := lookAgain(observed.failures)
	after = soonest(delay, after, examine(box, observed).wait)
	if !ok {
		return after, observed.failure()
	}
	return after, nil
}

// observation is what a reconcile found and did.
type observation struct {
	// deployment and service are nil where there is none that belongs to the box.
	deployment *appsv1.Deployment
	service    *corev1.Service
	pods       []*corev1.Pod
	// mountFailures say, by the UID of the pod, why pods wait for a volume.
	mountFailures map[types.UID]string
	now           time.Time
	// pending are the kinds of children that the box is paused before.
	pending []string
	// failures are what kept children from being what the box says.
	failures []error
}

// failure returns all failures as one, nil if there are none.
func (o *observation) failure() error { return errors.Join(o.failures...) }

// see takes note of a child, unless it is nil or does not belong to the box.
func (o *observation) see(box *modelv1.ModelBox, object child) {
	if object == nil || !isOwnedBy(object, box) {
		return
	}
	switch object := object.(type) {
	case *appsv1.Deployment:
		o.deployment = object
	case *corev1.Service:
		o.service = object
	}
}

// reconcileChildren carries out the steps. One that fails does not keep the others from being done.
func (c *Controller) reconcileChildren(ctx context.Context, box *modelv1.ModelBox, steps []step) *observation {
	observed := &observation{}
	for _, s := range steps {
		if box.Spec.Paused && !s.verb.keepsFields() {
			observed.pending = append(observed.pending, s.kind.kind.Kind)
			live, err := c.recordPaused(ctx, box, s)
			if err != nil {
				observed.failures = append(observed.failures, err)
			}
			observed.see(box, live)
			continue
		}
		live, err := c.carryOut(ctx, box, s)
		if err != nil {
			observed.failures = append(observed.failures, err)
		}
		if live == nil && err != nil {
			live = s.live
		}
		observed.see(box, live)
	}
	observed.deployment = c.rollouts.observed(keyOf(box), observed.deployment)
	return observed
}

// soonest returns the shortest of some times to look again after, where 0 is not at all.
func soonest(delays ...time.Duration) time.Duration {
	var shortest time.Duration
	for _, delay := range delays {
		if delay > 0 && (shortest == 0 || delay < shortest) {
			shortest = delay
		}
	}
	return shortest
}
