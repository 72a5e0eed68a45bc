// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package modelbox

import (
	"context"
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/klog/v2"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/render"
)

// carryOut does one step and returns the child as it is afterwards, nil when there is none.
func (c *Controller) carryOut(ctx context.Context, box *modelv1.ModelBox, s step) (child, error) {
	switch s.verb {
	case create:
		return c.create(ctx, box, s)
	case update:
		return c.update(ctx, box, s)
	case restore:
		return c.restore(ctx, box, s)
	case record:
		return c.record(ctx, box, s)
	case reclaim:
		return c.reclaim(ctx, box, s)
	case replace:
		return c.replace(ctx, box, s)
	case prune:
		return nil, c.prune(ctx, box, s)
	case adopt:
		return c.adopt(ctx, box, s)
	case refuse:
		c.taken.watch(ctx, keyOf(box), s.kind, s.live)
		return nil, s.refusal
	case reject:
		return s.live, &rejectedError{kind: s.kind.kind.Kind, name: s.live.GetName(), fields: leaves(s.difference.fields)}
	case wait:
		return nil, fmt.Errorf("%s %s: %w", s.kind.kind.Kind, s.live.GetName(), errBeingDeleted)
	default:
		return s.live, nil
	}
}

// create writes a child that the cache does not have. The cache only holds what carries our label, so somebody
// else's object of that name, or ours without the label, is looked for first. The apply does not force: should
// the name be taken in between, the fields of the other one conflict.
func (c *Controller) create(ctx context.Context, box *modelv1.ModelBox, s step) (child, error) {
	live, err := s.kind.get(ctx, box.Namespace, s.rendered.GetName())
	switch {
	case err == nil:
		found, err := c.planAnew(box, s, live)
		if err != nil {
			return nil, err
		}
		return c.carryOut(ctx, box, found)
	case !apierrors.IsNotFound(err):
		return nil, fmt.Errorf("looking for a %s of the box's name: %w", s.kind.kind.Kind, err)
	}
	created, err := c.apply(ctx, box, s, false)
	if err != nil {
		return nil, err
	}
	c.eventf(box, corev1.EventTypeNormal, "Created"+s.kind.kind.Kind, "Create", "Created %s %s", s.kind.kind.Kind, created.GetName())
	return created, nil
}

// planLive says what has to be done about a child, as the cluster has it and not as the cache does.
func (c *Controller) planLive(ctx context.Context, box *modelv1.ModelBox, s step) (step, error) {
	if s.isLive {
		return s, nil
	}
	live, err := s.kind.get(ctx, box.Namespace, s.live.GetName())
	if apierrors.IsNotFound(err) {
		return step{}, fmt.Errorf("%s %s: %w", s.kind.kind.Kind, s.live.GetName(), errChildGone)
	}
	if err != nil {
		return step{}, fmt.Errorf("reading %s %s: %w", s.kind.kind.Kind, s.live.GetName(), err)
	}
	return c.planAnew(box, s, live)
}

// planAnew says what has to be done about a child that is not as the cache has it.
func (c *Controller) planAnew(box *modelv1.ModelBox, s step, live child) (step, error) {
	if deployment, ok := live.(*appsv1.Deployment); ok {
		rendered, err := c.render(box, deployment)
		if err != nil {
			return step{}, err
		}
		s.rendered = rendered[0]
	}
	found, err := c.planOne(box, s.kind, s.rendered, live)
	found.isLive = true
	return found, err
}

func (c *Controller) update(ctx context.Context, box *modelv1.ModelBox, s step) (child, error) {
	if s.difference.isInTheWay() {
		found, err := c.planLive(ctx, box, s)
		if err != nil {
			return nil, err
		}
		if found.verb != update {
			return c.carryOut(ctx, box, found)
		}
		s = found
	}
	updated, err := c.apply(ctx, box, s, true)
	if err != nil {
		return nil, err
	}
	c.eventf(box, corev1.EventTypeNormal, "Updated"+s.kind.kind.Kind, "Update", "Updated %s %s", s.kind.kind.Kind, updated.GetName())
	return updated, nil
}

// apply writes the rendered child. Where there is a live one, that very state of it is written to and no other: its
// UID and its version are part of the request. What of it is in the way of the render is taken out.
func (c *Controller) apply(ctx context.Context, box *modelv1.ModelBox, s step, force bool) (child, error) {
	var err error
	if s.live != nil && givesUpReplicas(s) {
		if s.live, err = c.handOverReplicas(ctx, box, s); err != nil {
			return nil, err
		}
	}
	if s.live != nil && s.difference != nil && s.difference.isInTheWay() {
		if s, err = c.claimConflicting(ctx, box, s); err != nil {
			return nil, err
		}
	}
	applied, err := c.applyAs(ctx, box, s, render.ManagedBy, force)
	if s.live != nil && force && apierrors.IsInvalid(err) {
		applied, err = c.applyInPlaceOf(ctx, box, s, err)
	}
	if err != nil {
		return nil, err
	}
	claimed, err := c.claimShared(ctx, box, s, applied)
	if err != nil {
		return nil, err
	}
	return claimed, c.rememberAnswer(box, s, applied)
}

// rememberAnswer takes note of which fields are ours now, and which of them the cluster did not take. A cluster drops
// fields of which the feature is off, and its admission webhooks may set others.
func (c *Controller) rememberAnswer(box *modelv1.ModelBox, s step, applied child) error {
	difference, err := c.compare.compare(s.rendered, applied)
	if err != nil {
		return err
	}
	c.applied.remember(box, s, appliedChild{
		uid:         applied.GetUID(),
		render:      render.Hash(s.rendered),
		fingerprint: fingerprint(applied),
		rejected:    difference.fields,
	})
	if !difference.isEmpty() {
		return &rejectedError{kind: s.kind.kind.Kind, name: applied.GetName(), fields: leaves(difference.fields)}
	}
	return nil
}

func (c *Controller) applyAs(ctx context.Context, box *modelv1.ModelBox, s step, manager string, force bool) (child, error) {
	configuration := s.rendered
	if s.live != nil {
		configuration = configuration.DeepCopy()
		configuration.SetUID(s.live.GetUID())
		configuration.SetResourceVersion(s.live.GetResourceVersion())
	}
	data, err := configuration.MarshalJSON()
	if err != nil {
		return nil, fmt.Errorf("encoding %s %s: %w", s.kind.kind.Kind, s.rendered.GetName(), err)
	}
	applied, err := s.kind.patch(ctx, box.Namespace, s.rendered.GetName(), types.ApplyPatchType, data, metav1.PatchOptions{
		FieldManager: manager,
		Force:        &force,
	})
	if err != nil {
		return nil, fmt.Errorf("applying %s %s: %w", s.kind.kind.Kind, s.rendered.GetName(), err)
	}
	c.wrote(box, s, applied)
	klog.FromContext(ctx).V(2).Info("Applied child", "reason", s.verb, "kind", s.kind.kind.Kind, "child", klog.KObj(applied))
	return applied, nil
}

// wrote takes note of a write of a child.
func (c *Controller) wrote(box *modelv1.ModelBox, s step, written child) {
	c.consistency.WroteAt(keyOf(box), box.UID, s.kind.resource, written.GetResourceVersion())
	c.metrics.wrote(s)
}

func keyOf(box metav1.Object) types.NamespacedName {
	return types.NamespacedName{Namespace: box.GetNamespace(), Name: box.GetName()}
}
