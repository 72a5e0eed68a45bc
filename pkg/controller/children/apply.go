// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package children

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/klog/v2"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apply/fields"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/render"
)

// create writes a child that does not exist. The apply does not force: if another object takes the name in between, its fields
// conflict.
func (e *Engine[O]) create(ctx context.Context, owner O, s Step) (Object, error) {
	created, err := e.createOrReplace(ctx, owner, s)
	if created == nil {
		return nil, err
	}
	e.childEventf(owner, s.Kind, created, corev1.EventTypeNormal, "Created"+s.Kind.name(), "Create", "Created %s %s", s.Kind.name(), created.GetName())
	return created, err
}

// update writes a child after its owner has changed what it asks for.
func (e *Engine[O]) update(ctx context.Context, owner O, s Step) (Object, error) {
	updated, err := e.apply(ctx, owner, s, true)
	if err != nil {
		return nil, err
	}
	if s.Kind.Written != nil {
		s.Kind.Written(keyOf(owner), s.live, updated)
	}
	e.childEventf(owner, s.Kind, updated, corev1.EventTypeNormal, "Updated"+s.Kind.name(), "Update", "Updated %s %s", s.Kind.name(), updated.GetName())
	return updated, nil
}

// HandoverManager is the field manager of fields that an owner gives up, until another manager sets them. The API would reset a
// field without a manager to its default.
const HandoverManager = render.FieldManager + "-handover"

// apply writes the rendered child. If there is a live child, the request has its UID and its resource version, so that it writes to
// exactly this state of the child. apply takes out the fields of the live child that are in the way of the render.
func (e *Engine[O]) apply(ctx context.Context, owner O, s Step, force bool) (Object, error) {
	var err error
	if s.live != nil && s.Kind.HandOver != nil {
		if s.live, err = e.handOver(ctx, owner, s); err != nil {
			return nil, err
		}
	}
	if s.live != nil && s.Difference != nil && s.Difference.IsObstructed() {
		if s, err = e.claimConflicting(ctx, owner, s); err != nil {
			return nil, err
		}
	}
	applied, err := e.applyAs(ctx, owner, s, render.FieldManager, force)
	if s.live != nil && force && apierrors.IsInvalid(err) {
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
func (e *Engine[O]) handOver(ctx context.Context, owner O, s Step) (Object, error) {
	given, err := s.Kind.HandOver(s.rendered, s.live)
	if err != nil || given == nil {
		return s.live, err
	}
	s.rendered = given
	return e.applyAs(ctx, owner, s, HandoverManager, false)
}

// rememberAnswer takes note of which fields are ours now, and which of them the cluster did not take. A cluster drops
// fields of which the feature is off, and its admission webhooks may set others.
func (e *Engine[O]) rememberAnswer(owner O, s Step, applied Object) error {
	difference, err := e.compareChild(s.rendered, applied)
	if err != nil {
		return err
	}
	if paths := e.ignoredPaths(owner, s.Kind); len(paths) > 0 {
		leaveOutOf(difference, covered(difference.Fields, paths), paths)
	}
	e.applied.remember(keyOf(owner), s, appliedAnswer{
		uid:         applied.GetUID(),
		render:      render.Hash(s.rendered),
		fingerprint: fields.Fingerprint(applied),
		rejected:    difference.Fields,
		isPartial:   s.Kind.known(s.rendered) != s.rendered,
	})
	if !difference.IsEmpty() {
		return e.rejection(s, difference)
	}
	return nil
}

// applyAs applies what is rendered in the name of a field manager, and nothing else.
func (e *Engine[O]) applyAs(ctx context.Context, owner O, s Step, manager string, force bool) (Object, error) {
	configuration := s.Kind.known(s.rendered)
	if s.live != nil {
		configuration = configuration.DeepCopy()
		configuration.SetUID(s.live.GetUID())
		configuration.SetResourceVersion(s.live.GetResourceVersion())
	}
	data, err := configuration.MarshalJSON()
	if err != nil {
		return nil, fmt.Errorf("encoding %s %s: %w", s.Kind.name(), s.rendered.GetName(), err)
	}
	applied, err := s.Kind.patch(ctx, owner.GetNamespace(), s.rendered.GetName(), types.ApplyPatchType, data, metav1.PatchOptions{
		FieldManager: manager,
		Force:        &force,
	})
	if err != nil {
		return nil, fmt.Errorf("applying %s %s: %w", s.Kind.name(), s.rendered.GetName(), err)
	}
	e.wrote(owner, s, applied)
	klog.FromContext(ctx).V(2).Info("Applied child", "operation", s.Operation, "kind", s.Kind.name(), "child", klog.KObj(applied))
	return applied, nil
}

// wrote takes note of a write of a child.
func (e *Engine[O]) wrote(owner O, s Step, written Object) {
	e.Consistency.WroteAt(keyOf(owner), owner.GetUID(), s.Kind.Resource, written.GetResourceVersion())
	e.Metrics.ChildWritten(s.Kind.name(), s.Operation.label())
}
