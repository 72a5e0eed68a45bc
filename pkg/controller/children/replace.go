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

	"github.com/sharelinuxs/modelbox-apiserver/pkg/render"
)

// replace deletes a child and creates it again, because no change makes it as rendered. A child that is deleted already is only
// created.
func (e *Engine[O]) replace(ctx context.Context, owner O, s Step, result *Result) (Object, error) {
	if s.live == nil {
		return e.create(ctx, owner, s)
	}
	propagation := s.Kind.propagation()
	if !s.isOwnedByPredecessor {
		if err := e.tryCreation(ctx, owner, s); err != nil {
			return nil, err
		}
		e.predecessors.remember(keyOf(owner), s)
		if s.Kind.ReplacePropagation != nil {
			propagation = s.Kind.ReplacePropagation(s.rendered, s.live)
		}
	}
	if err := e.delete(ctx, owner, s, propagation); err != nil && !apierrors.IsNotFound(err) {
		return nil, err
	}
	e.childEventf(owner, s.Kind, s.live, corev1.EventTypeNormal, "Replaced"+s.Kind.name(), "Replace",
		"Deleted %s %s to create it anew: %s", s.Kind.name(), s.Name(), s.obstacle)
	return e.reconcileChild(ctx, owner, Step{Operation: Replace, Kind: s.Kind, rendered: s.rendered}, result)
}

// tryCreation returns why the cluster would not take the rendered child in place of the live one, which is not deleted for nothing.
// A dry run goes through all admission before the API server finds that the name is taken. Quotas, which come last, count one child
// more than there will be.
func (e *Engine[O]) tryCreation(ctx context.Context, owner O, s Step) error {
	err := s.Kind.create(ctx, owner.GetNamespace(), s.Kind.known(s.rendered), metav1.CreateOptions{
		DryRun:       []string{metav1.DryRunAll},
		FieldManager: render.FieldManager,
	})
	if err == nil || apierrors.IsAlreadyExists(err) || isQuotaExceeded(err) {
		return nil
	}
	return fmt.Errorf("%s %s cannot be replaced, although %s: %w", s.Kind.name(), s.Name(), s.obstacle, err)
}

// createOrReplace writes a child that does not exist. If the child was deleted to be created again, HandoverManager sets the fields
// that other managers had set on it. It may return both a child and an error.
func (e *Engine[O]) createOrReplace(ctx context.Context, owner O, s Step) (Object, error) {
	name := childName{s.Kind.name(), s.Name()}
	predecessor := e.predecessors.find(keyOf(owner), name)
	if predecessor == nil {
		return e.apply(ctx, owner, s, false)
	}
	inherited, err := e.compare.Extract(predecessor, s.rendered, s.Kind.inherited())
	if err != nil {
		return nil, err
	}
	carried, err := e.compare.Foreign(predecessor, s.rendered, s.Kind.preservedFields())
	if err != nil {
		return nil, err
	}
	created, err := e.createInheriting(ctx, owner, s, inherited)
	if err != nil {
		return nil, err
	}
	e.predecessors.replaced(keyOf(owner), name)
	if carried, err = e.compare.Merge(carried, inherited); err != nil || carried == nil {
		return created, err
	}
	kept, err := retryOnConflict(ctx, s.Kind, created, func(created Object) (Object, error) {
		return e.applyAs(ctx, owner, Step{Operation: s.Operation, Kind: s.Kind, rendered: carried, live: created}, HandoverManager, false)
	})
	if err != nil {
		return created, fmt.Errorf("setting again what others had set: %w", err)
	}
	return kept, nil
}

// createInheriting creates a child that has from the beginning what it inherits, nil where that is nothing. HandoverManager
// creates it, what is rendered is ours with the next apply, and the one after that leaves HandoverManager the rest.
func (e *Engine[O]) createInheriting(ctx context.Context, owner O, s Step, inherited *unstructured.Unstructured) (Object, error) {
	if inherited == nil {
		return e.apply(ctx, owner, s, false)
	}
	complete, err := e.compare.Merge(s.rendered, inherited)
	if err != nil {
		return nil, err
	}
	created, err := e.applyAs(ctx, owner, Step{Operation: s.Operation, Kind: s.Kind, rendered: complete}, HandoverManager, false)
	if err != nil {
		return nil, err
	}
	return retryOnConflict(ctx, s.Kind, created, func(created Object) (Object, error) {
		s.live = created
		return e.apply(ctx, owner, s, true)
	})
}

// prune deletes a child that the owner no longer asks for.
func (e *Engine[O]) prune(ctx context.Context, owner O, s Step) error {
	err := e.delete(ctx, owner, s, s.Kind.propagation())
	if apierrors.IsNotFound(err) {
		return nil // and has been told when it went
	}
	if err != nil {
		return err
	}
	e.childEventf(owner, s.Kind, s.live, corev1.EventTypeNormal, "Pruned"+s.Kind.name(), "Prune", "Deleted %s %s, which the %s does not ask for any more", s.Kind.name(), s.Name(), e.Noun)
	return nil
}

// delete deletes exactly the live object, and no other object of its name. It deletes an object with data only in the version that
// was read.
func (e *Engine[O]) delete(ctx context.Context, owner O, s Step, propagation metav1.DeletionPropagation) error {
	preconditions := &metav1.Preconditions{UID: ptr.To(s.live.GetUID())}
	if s.Kind.Retention != nil {
		preconditions.ResourceVersion = ptr.To(s.live.GetResourceVersion())
	}
	err := s.Kind.delete(ctx, owner.GetNamespace(), s.live.GetName(), metav1.DeleteOptions{
		Preconditions:     preconditions,
		PropagationPolicy: &propagation,
	})
	if err != nil {
		return fmt.Errorf("deleting %s %s: %w", s.Kind.name(), s.live.GetName(), err)
	}
	e.Metrics.ChildWritten(s.Kind.name(), s.Operation.label())
	klog.FromContext(ctx).V(2).Info("Deleted child", "operation", s.Operation, "kind", s.Kind.name(), "child", klog.KObj(s.live))
	return nil
}
