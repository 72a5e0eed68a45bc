// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package serviceingress

import (
	"context"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/apply"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/children"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/reconciler"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/timeout"
	modelboxrender "github.com/sharelinuxs/modelbox-apiserver/pkg/render/modelbox"
	serviceingressrender "github.com/sharelinuxs/modelbox-apiserver/pkg/render/serviceingress"
)

// reconcile reconciles the Ingress of one Service. Its results are the results of Reconcile in reconciler.Config.
func (c *Controller) reconcile(ctx context.Context, service *corev1.Service) (time.Duration, error) {
	wants, err := c.wantsIngress(service)
	if err != nil {
		return 0, err
	}
	problem := c.problemOf(service, wants)
	if problem != nil {
		c.report(service, *problem)
	}
	switch {
	case wants && problem != nil:
		return 0, nil // The Ingress that there is may serve on.
	case !wants:
		if confirmed, err := c.confirmUnwanted(ctx, service); err != nil || !confirmed {
			return reconciler.StaleCacheRetry, err
		}
	}
	result, err := c.children.Reconcile(ctx, service)
	if err != nil {
		return 0, err
	}
	return c.settle(service, problem, result)
}

// problemOf returns the problem with the annotations of the Service, nil if there is none.
func (c *Controller) problemOf(service *corev1.Service, wants bool) *problem {
	if err := serviceingressrender.Validate(service, c.defaults).ToAggregate(); err != nil {
		return &problem{modelv1.ReasonInvalid, err.Error()}
	}
	if !wants && serviceingressrender.AsksForIngress(service) {
		return &problem{modelv1.ReasonNotOwned, fmt.Sprintf(
			"box %s has an Ingress of this name by its spec.ingress, and annotation %s does nothing", service.Name, serviceingressrender.HTTPAnnotation)}
	}
	return nil
}

// wantsIngress returns whether the Service is to have an Ingress: it asks for one, and the Ingress of the box that it belongs to
// does not have this name.
func (c *Controller) wantsIngress(service *corev1.Service) (bool, error) {
	if !serviceingressrender.AsksForIngress(service) {
		return false, nil
	}
	owner := modelboxrender.ControllingBox(service)
	if owner == nil {
		return true, nil
	}
	box, err := c.boxLister.ModelBoxes(service.Namespace).Get(owner.Name)
	if apierrors.IsNotFound(err) {
		return true, nil
	}
	if err != nil {
		return false, fmt.Errorf("reading the box of the Service: %w", err)
	}
	return box.UID != owner.UID || box.Spec.Ingress == nil, nil
}

// confirmUnwanted returns whether a Service is not to have an Ingress that has one. Traffic depends on that, so the Service is
// read, and not taken from a cache.
func (c *Controller) confirmUnwanted(ctx context.Context, service *corev1.Service) (bool, error) {
	owned, err := c.children.Owned(service)
	if err != nil || len(owned) == 0 {
		return true, err
	}
	now, err := timeout.Request(ctx, func(ctx context.Context) (*corev1.Service, error) {
		return c.getService(ctx, service.Namespace, service.Name)
	})
	if apierrors.IsNotFound(err) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("reading the Service again: %w", err)
	}
	wants, err := c.wantsIngress(now)
	return !wants && now.UID == service.UID, err
}

// settle returns the results of a reconcile, and reports the problem that keeps the Ingress from being as rendered.
func (c *Controller) settle(service *corev1.Service, known *problem, result *children.Result) (time.Duration, error) {
	if slices.ContainsFunc(result.Failures, func(err error) bool { return children.Classify(err).IsStale }) {
		return 0, result.Err()
	}
	for _, err := range result.Failures {
		c.reportFailure(service, err)
	}
	switch {
	case !serviceingressrender.IsAnnotated(service) && len(result.Failures) == 0:
		c.forget(apply.KeyOf(service))
	case known == nil && len(result.Failures) == 0:
		c.problems.Forget(apply.KeyOf(service))
	}
	if retry, ok := children.RetryAfter(result.Failures); ok {
		return retry, nil
	}
	return 0, result.Err()
}

// forget drops what is remembered of a Service that is gone or going.
func (c *Controller) forget(key types.NamespacedName) {
	c.children.Forget(key)
	c.problems.Forget(key)
}
