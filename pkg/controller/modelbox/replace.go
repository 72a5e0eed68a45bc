// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package modelbox

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/klog/v2"
	"k8s.io/utils/ptr"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
)

// replace deletes a child and creates it anew, where what the box says cannot be reached by changing it. What others
// had set on it is set again, under a manager of its own.
func (c *Controller) replace(ctx context.Context, box *modelv1.ModelBox, s step) (child, error) {
	var foreign step
	if isPredecessors(s.live, box) {
		if _, err := c.confirm(ctx, box); err != nil {
			return nil, err
		}
	} else {
		found, err := c.planLive(ctx, box, s)
		if err != nil {
			return nil, err
		}
		if found.verb != replace {
			return c.carryOut(ctx, box, found)
		}
		s = found
		if foreign, err = c.foreignFields(s); err != nil {
			return nil, err
		}
	}
	if err := c.delete(ctx, box, s); err != nil && !apierrors.IsNotFound(err) {
		return nil, err
	}
	c.eventf(box, corev1.EventTypeNormal, "Replaced"+s.kind.kind.Kind, "Replace",
		"Deleted %s %s to create it anew: %s", s.kind.kind.Kind, s.live.GetName(), s.obstacle)
	s.live = nil
	created, err := c.create(ctx, box, s)
	if err != nil || foreign.rendered == nil {
		return created, err
	}
	foreign.live = created
	kept, err := c.applyAs(ctx, box, foreign, handoverManager, false)
	if err != nil {
		return created, fmt.Errorf("setting again what others had set: %w", err)
	}
	return kept, nil
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

// foreignFields returns a step that applies what others had set on the live child, none where that is nothing.
func (c *Controller) foreignFields(s step) (step, error) {
	fields, err := c.compare.foreign(s.live, s.rendered, s.kind.kept)
	if err != nil || fields == nil {
		return step{}, err
	}
	s.rendered, s.difference = fields, nil
	return s, nil
}
