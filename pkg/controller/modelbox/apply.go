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
	"k8s.io/utils/ptr"

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
	case replace:
		return c.replace(ctx, box, s)
	case prune:
		return nil, c.prune(ctx, box, s)
	case adopt:
		return c.adopt(ctx, box, s)
	case refuse:
		return nil, s.refusal
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

// planAnew says what has to be done about a child that is not as the cache has it.
func (c *Controller) planAnew(box *modelv1.ModelBox, s step, live child) (step, error) {
	if deployment, ok := live.(*appsv1.Deployment); ok {
		rendered, err := c.render(box, deployment)
		if err != nil {
			return step{}, err
		}
		s.rendered = rendered[0]
	}
	return c.planOne(box, s.kind, s.rendered, live)
}

func (c *Controller) update(ctx context.Context, box *modelv1.ModelBox, s step) (child, error) {
	updated, err := c.apply(ctx, box, s, true)
	if err != nil {
		return nil, err
	}
	c.eventf(box, corev1.EventTypeNormal, "Updated"+s.kind.kind.Kind, "Update", "Updated %s %s", s.kind.kind.Kind, updated.GetName())
	return updated, nil
}

// restore takes back what somebody else changed, unless it would only be changed again. Who that was only the live
// object tells.
func (c *Controller) restore(ctx context.Context, box *modelv1.ModelBox, s step) (child, error) {
	if err := c.fights.pause(s.live.GetUID()); err != nil {
		return nil, err
	}
	live, err := s.kind.get(ctx, box.Namespace, s.live.GetName())
	if apierrors.IsNotFound(err) {
		return nil, fmt.Errorf("%s %s: %w", s.kind.kind.Kind, s.live.GetName(), errChildGone)
	}
	if err != nil {
		return nil, fmt.Errorf("reading the %s that was changed: %w", s.kind.kind.Kind, err)
	}
	found, err := c.planAnew(box, s, live)
	if err != nil {
		return nil, err
	}
	if found.verb != restore {
		return c.carryOut(ctx, box, found)
	}
	s = found
	who := lastWriter(live, s.differences)
	if who == "" {
		who = "somebody"
	}
	if err := c.fights.restore(live, s.differences, who); err != nil {
		return nil, err
	}
	restored, err := c.apply(ctx, box, s, true)
	if err != nil {
		return nil, err
	}
	c.metrics.restored(s, who)
	c.eventf(box, corev1.EventTypeWarning, "Restored"+s.kind.kind.Kind, "Restore",
		"Restored %s %s: %s had changed %s", s.kind.kind.Kind, restored.GetName(), who, leaves(s.differences))
	return restored, nil
}

// replace deletes a child and creates it anew, where what the box says cannot be reached by changing it.
func (c *Controller) replace(ctx context.Context, box *modelv1.ModelBox, s step) (child, error) {
	if isPredecessors(s.live, box) {
		if _, err := c.confirm(ctx, box); err != nil {
			return nil, err
		}
	}
	if err := c.delete(ctx, box, s); err != nil && !apierrors.IsNotFound(err) {
		return nil, err
	}
	c.eventf(box, corev1.EventTypeNormal, "Replaced"+s.kind.kind.Kind, "Replace",
		"Deleted %s %s to create it anew: %s", s.kind.kind.Kind, s.live.GetName(), s.obstacle)
	s.live = nil
	return c.create(ctx, box, s)
}

func (c *Controller) prune(ctx context.Context, box *modelv1.ModelBox, s step) error {
	err := c.delete(ctx, box, s)
	if apierrors.IsNotFound(err) {
		return nil // and has been told when it went
	}
	if err != nil {
		return err
	}
	c.eventf(box, corev1.EventTypeNormal, "Pruned"+s.kind.kind.Kind, "Prune", "Deleted %s %s, which the box does not ask for any more", s.kind.kind.Kind, s.live.GetName())
	return nil
}

// delete deletes the live child, that very object and no other of its name.
func (c *Controller) delete(ctx context.Context, box *modelv1.ModelBox, s step) error {
	err := s.kind.delete(ctx, box.Namespace, s.live.GetName(), metav1.DeleteOptions{
		Preconditions:     &metav1.Preconditions{UID: ptr.To(s.live.GetUID())},
		PropagationPolicy: ptr.To(metav1.DeletePropagationBackground),
	})
	if err != nil {
		return fmt.Errorf("deleting %s %s: %w", s.kind.kind.Kind, s.live.GetName(), err)
	}
	c.metrics.wrote(s)
	klog.FromContext(ctx).V(2).Info("Deleted child", "reason", s.verb, "kind", s.kind.kind.Kind, "child", klog.KObj(s.live))
	return nil
}

// apply writes the rendered child. Where there is a live one, that very state of it is written to and no other: its
// UID and its version are part of the request.
func (c *Controller) apply(ctx context.Context, box *modelv1.ModelBox, s step, force bool) (child, error) {
	if s.live != nil && givesUpReplicas(s) {
		handedOver, err := c.handOverReplicas(ctx, box, s)
		if err != nil {
			return nil, err
		}
		s.live = handedOver
	}
	return c.applyAs(ctx, box, s, render.ManagedBy, force)
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
	applied, err := s.kind.apply(ctx, box.Namespace, s.rendered.GetName(), data, metav1.PatchOptions{
		FieldManager: manager,
		Force:        &force,
	})
	if err != nil {
		return nil, fmt.Errorf("applying %s %s: %w", s.kind.kind.Kind, s.rendered.GetName(), err)
	}
	c.written.wrote(keyOf(box), s.kind.resource, applied.GetResourceVersion())
	c.metrics.wrote(s)
	klog.FromContext(ctx).V(2).Info("Applied child", "reason", s.verb, "kind", s.kind.kind.Kind, "child", klog.KObj(applied))
	return applied, nil
}

func keyOf(box metav1.Object) types.NamespacedName {
	return types.NamespacedName{Namespace: box.GetNamespace(), Name: box.GetName()}
}
