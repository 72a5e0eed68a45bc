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

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apply"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/render"
)

// replace deletes a child and creates it again, because no change makes it as rendered. A child that is deleted already is only
// created.
func (e *Engine[O]) replace(ctx context.Context, owner O, s apply.Step, result *Result) (Object, error) {
	if s.Live == nil {
		return e.create(ctx, owner, s)
	}
	propagation := e.kindOf(s).propagation()
	if !s.IsOwnedByPredecessor {
		if err := e.tryCreation(ctx, owner, s); err != nil {
			return nil, err
		}
		e.predecessors.remember(apply.KeyOf(owner), s)
		if e.kindOf(s).ReplacePropagation != nil {
			propagation = e.kindOf(s).ReplacePropagation(s.Rendered, s.Live)
		}
	}
	if err := e.delete(ctx, owner, s, propagation); err != nil && !apierrors.IsNotFound(err) {
		return nil, err
	}
	e.childEventf(owner, s.Kind, s.Live, corev1.EventTypeNormal, "Replaced"+s.Kind.Name(), "Replace",
		"Deleted %s %s to recreate it: %s", s.Kind.Name(), s.Name(), s.Obstacle)
	return e.reconcileChild(ctx, owner, apply.Step{Operation: apply.Replace, Kind: s.Kind, Rendered: s.Rendered}, result)
}

// tryCreation returns why the cluster would not take the rendered child in place of the live one, which is not deleted for nothing.
// A dry run goes through all admission before the API server finds that the name is taken. Quotas, which come last, count one child
// more than there will be.
func (e *Engine[O]) tryCreation(ctx context.Context, owner O, s apply.Step) error {
	err := e.kindOf(s).create(ctx, owner.GetNamespace(), s.Kind.Configuration(s.Rendered), metav1.CreateOptions{
		DryRun:       []string{metav1.DryRunAll},
		FieldManager: render.FieldManager,
	})
	if err == nil || apierrors.IsAlreadyExists(err) || IsQuotaExceeded(err) {
		return nil
	}
	return fmt.Errorf("%s %s cannot be replaced, although %s: %w", s.Kind.Name(), s.Name(), s.Obstacle, err)
}

// createOrReplace writes a child that does not exist. If the child was deleted to be created again, apply.HandoverManager sets the
// fields that other managers had set on it. It may return both a child and an error.
func (e *Engine[O]) createOrReplace(ctx context.Context, owner O, s apply.Step) (Object, error) {
	name := childName{s.Kind.Name(), s.Name()}
	predecessor := e.predecessors.find(apply.KeyOf(owner), name)
	if predecessor == nil {
		return e.apply(ctx, owner, s, false)
	}
	inherited, err := e.compare.Extract(predecessor, s.Rendered, e.kindOf(s).inherited())
	if err != nil {
		return nil, err
	}
	carried, err := e.compare.Foreign(predecessor, s.Rendered, e.kindOf(s).preservedFields())
	if err != nil {
		return nil, err
	}
	created, err := e.createInheriting(ctx, owner, s, inherited)
	if err != nil {
		return nil, err
	}
	e.predecessors.replaced(apply.KeyOf(owner), name)
	if carried, err = e.compare.Merge(carried, inherited); err != nil || carried == nil {
		return created, err
	}
	kept, err := retryOnConflict(ctx, e.kindOf(s), created, func(created Object) (Object, error) {
		return e.applyAs(ctx, owner, apply.Step{Operation: s.Operation, Kind: s.Kind, Rendered: carried, Live: created}, apply.HandoverManager, false)
	})
	if err != nil {
		return created, fmt.Errorf("restoring the fields of other managers: %w", err)
	}
	return kept, nil
}

// createInheriting creates a child that has the inherited fields from the beginning. inherited is nil if there are none.
// apply.HandoverManager creates the child, the next apply makes the rendered fields ours, and the apply after that leaves
// apply.HandoverManager the rest.
func (e *Engine[O]) createInheriting(ctx context.Context, owner O, s apply.Step, inherited *unstructured.Unstructured) (Object, error) {
	if inherited == nil {
		return e.apply(ctx, owner, s, false)
	}
	complete, err := e.compare.Merge(s.Rendered, inherited)
	if err != nil {
		return nil, err
	}
	created, err := e.applyAs(ctx, owner, apply.Step{Operation: s.Operation, Kind: s.Kind, Rendered: complete}, apply.HandoverManager, false)
	if err != nil {
		return nil, err
	}
	return retryOnConflict(ctx, e.kindOf(s), created, func(created Object) (Object, error) {
		s.Live = created
		return e.apply(ctx, owner, s, true)
	})
}

// prune deletes a child that the owner no longer asks for.
func (e *Engine[O]) prune(ctx context.Context, owner O, s apply.Step) error {
	err := e.delete(ctx, owner, s, e.kindOf(s).propagation())
	if apierrors.IsNotFound(err) {
		return nil // and has been told when it went
	}
	if err != nil {
		return err
	}
	e.childEventf(owner, s.Kind, s.Live, corev1.EventTypeNormal, "Pruned"+s.Kind.Name(), "Prune", "Deleted %s %s, which the %s no longer specifies", s.Kind.Name(), s.Name(), e.Noun)
	return nil
}

// delete deletes exactly the live object, and no other object of its name. It deletes an object with data only in the version that
// was read.
func (e *Engine[O]) delete(ctx context.Context, owner O, s apply.Step, propagation metav1.DeletionPropagation) error {
	preconditions := &metav1.Preconditions{UID: ptr.To(s.Live.GetUID())}
	if s.Kind.Retention != nil {
		preconditions.ResourceVersion = ptr.To(s.Live.GetResourceVersion())
	}
	err := e.kindOf(s).delete(ctx, owner.GetNamespace(), s.Live.GetName(), metav1.DeleteOptions{
		Preconditions:     preconditions,
		PropagationPolicy: &propagation,
	})
	if err != nil {
		return fmt.Errorf("deleting %s %s: %w", s.Kind.Name(), s.Live.GetName(), err)
	}
	e.Metrics.ChildWritten(s.Kind.Name(), label(s.Operation))
	klog.FromContext(ctx).V(2).Info("Deleted child", "operation", s.Operation, "kind", s.Kind.Name(), "child", klog.KObj(s.Live))
	return nil
}
