// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package children

import (
	"context"
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/klog/v2"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apply"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/render"
)

// create writes a child that does not exist. The apply does not force: if another object takes the name in between, its fields
// conflict.
func (e *Engine[O]) create(ctx context.Context, owner O, s apply.Step) (Object, error) {
	created, err := e.createOrReplace(ctx, owner, s)
	if created == nil {
		return nil, err
	}
	e.childEventf(owner, s.Kind, created, corev1.EventTypeNormal, "Created"+s.Kind.Name(), "Create", "Created %s %s", s.Kind.Name(), created.GetName())
	return created, err
}

// update writes a child after its owner has changed what it asks for.
func (e *Engine[O]) update(ctx context.Context, owner O, s apply.Step) (Object, error) {
	updated, err := e.apply(ctx, owner, s, true)
	if err != nil {
		return nil, err
	}
	e.noteWritten(owner, s, updated)
	e.childEventf(owner, s.Kind, updated, corev1.EventTypeNormal, "Updated"+s.Kind.Name(), "Update", "Updated %s %s", s.Kind.Name(), updated.GetName())
	return updated, nil
}

// noteWritten calls Written of the kind of the step, if it has one.
func (e *Engine[O]) noteWritten(owner O, s apply.Step, after Object) {
	if written := e.kindOf(s).Written; written != nil {
		written(apply.KeyOf(owner), s.Live, after)
	}
}

// apply writes the rendered child. If there is a live child, the request has its UID and its resource version, so that it writes to
// exactly this state of the child. apply takes out the fields of the live child that are in the way of the render.
func (e *Engine[O]) apply(ctx context.Context, owner O, s apply.Step, force bool) (Object, error) {
	var err error
	if s.Live != nil && s.Kind.HandOver != nil {
		if s.Live, err = e.handOver(ctx, owner, s); err != nil {
			return nil, err
		}
	}
	if s.Live != nil && s.Difference != nil && s.Difference.IsObstructed() {
		if s, err = e.claimConflicting(ctx, owner, s); err != nil {
			return nil, err
		}
	}
	applied, err := e.applyAs(ctx, owner, s, render.FieldManager, force)
	if s.Live != nil && force && apierrors.IsInvalid(err) {
		applied, err = e.applyInPlaceOf(ctx, owner, s, err)
	}
	if err != nil {
		return nil, err
	}
	claimed, err := e.claimShared(ctx, owner, s, applied)
	if err != nil {
		return nil, err
	}
	return claimed, e.rememberAnswer(owner, s, applied)
}

// handOver lets the child keep fields that the render gives up, and returns it as it is then.
func (e *Engine[O]) handOver(ctx context.Context, owner O, s apply.Step) (Object, error) {
	given, err := s.Kind.HandOver(s.Rendered, s.Live)
	if err != nil || given == nil {
		return s.Live, err
	}
	s.Rendered = given
	return e.applyAs(ctx, owner, s, apply.HandoverManager, false)
}

// rememberAnswer takes note of what the cluster made of the rendered child, and returns an error if it did not take some of it.
func (e *Engine[O]) rememberAnswer(owner O, s apply.Step, applied Object) error {
	rejected, err := e.planner.Remember(owner, s, applied)
	if err != nil || rejected.IsEmpty() {
		return err
	}
	return e.rejection(s, rejected)
}

// applyAs applies what is rendered in the name of a field manager, and nothing else.
func (e *Engine[O]) applyAs(ctx context.Context, owner O, s apply.Step, manager string, force bool) (Object, error) {
	configuration := s.Kind.Configuration(s.Rendered)
	if s.Live != nil {
		configuration = configuration.DeepCopy()
		configuration.SetUID(s.Live.GetUID())
		configuration.SetResourceVersion(s.Live.GetResourceVersion())
	}
	data, err := configuration.MarshalJSON()
	if err != nil {
		return nil, fmt.Errorf("encoding %s %s: %w", s.Kind.Name(), s.Rendered.GetName(), err)
	}
	applied, err := e.kindOf(s).patch(ctx, owner.GetNamespace(), s.Rendered.GetName(), types.ApplyPatchType, data, metav1.PatchOptions{
		FieldManager: manager,
		Force:        &force,
	})
	if err != nil {
		return nil, fmt.Errorf("applying %s %s: %w", s.Kind.Name(), s.Rendered.GetName(), err)
	}
	e.wrote(owner, s, applied)
	klog.FromContext(ctx).V(2).Info("Applied child", "operation", s.Operation, "kind", s.Kind.Name(), "child", klog.KObj(applied))
	return applied, nil
}

// wrote takes note of a write of a child.
func (e *Engine[O]) wrote(owner O, s apply.Step, written Object) {
	e.Consistency.WroteAt(apply.KeyOf(owner), owner.GetUID(), s.Kind.Resource, written.GetResourceVersion())
	e.Metrics.ChildWritten(s.Kind.Name(), label(s.Operation))
}

// label is the operation as metrics have it.
func label(operation apply.Operation) string { return strings.ToLower(string(operation)) }
