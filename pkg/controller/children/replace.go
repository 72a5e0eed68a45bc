// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package children

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/klog/v2"
	"k8s.io/utils/ptr"
)

// replace deletes a child and creates it anew, where what is rendered cannot be reached by changing it. What others had set
// on it is set again, under a manager of its own. A child that has been deleted is only created.
func (e *Engine[O]) replace(ctx context.Context, owner O, s Step, result *Result) (Object, error) {
	if s.live == nil {
		return e.create(ctx, owner, s)
	}
	var carried *unstructured.Unstructured
	if !s.isOwnedByPredecessor {
		var err error
		if carried, err = e.compare.Foreign(s.live, s.rendered, s.Kind.kept()); err != nil {
			return nil, err
		}
	}
	if err := e.delete(ctx, owner, s); err != nil && !apierrors.IsNotFound(err) {
		return nil, err
	}
	e.eventf(owner, corev1.EventTypeNormal, "Replaced"+s.Kind.name(), "Replace",
		"Deleted %s %s to create it anew: %s", s.Kind.name(), s.Name(), s.obstacle)
	created, err := e.reconcileChild(ctx, owner, Step{Operation: Replace, Kind: s.Kind, rendered: s.rendered}, result)
	if err != nil || carried == nil {
		return created, err
	}
	kept, err := e.applyAs(ctx, owner, Step{Operation: Replace, Kind: s.Kind, rendered: carried, live: created}, HandoverManager, false)
	if err != nil {
		return created, fmt.Errorf("setting again what others had set: %w", err)
	}
	return kept, nil
}

// prune deletes a child that the owner does not ask for any more.
func (e *Engine[O]) prune(ctx context.Context, owner O, s Step) error {
	err := e.delete(ctx, owner, s)
	if apierrors.IsNotFound(err) {
		return nil // and has been told when it went
	}
	if err != nil {
		return err
	}
	e.eventf(owner, corev1.EventTypeNormal, "Pruned"+s.Kind.name(), "Prune", "Deleted %s %s, which the %s does not ask for any more", s.Kind.name(), s.Name(), e.Noun)
	return nil
}

// delete deletes the live Object, that very object and no other of its name.
func (e *Engine[O]) delete(ctx context.Context, owner O, s Step) error {
	err := s.Kind.delete(ctx, owner.GetNamespace(), s.live.GetName(), metav1.DeleteOptions{
		Preconditions:     &metav1.Preconditions{UID: ptr.To(s.live.GetUID())},
		PropagationPolicy: ptr.To(metav1.DeletePropagationBackground),
	})
	if err != nil {
		return fmt.Errorf("deleting %s %s: %w", s.Kind.name(), s.live.GetName(), err)
	}
	e.Metrics.ChildWritten(s.Kind.name(), s.Operation.label())
	klog.FromContext(ctx).V(2).Info("Deleted child", "operation", s.Operation, "kind", s.Kind.name(), "child", klog.KObj(s.live))
	return nil
}
