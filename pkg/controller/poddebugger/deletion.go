// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package poddebugger

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/timeout"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/render"
)

// syncFinalizer has the finalizer on the PodDebugger while it is to restart boxes, and not otherwise. It returns whether it was
// written, and is to be looked at again when the cache shows that.
func (c *Controller) syncFinalizer(ctx context.Context, debugger *modelv1.PodDebugger) (bool, error) {
	isWanted := debugger.Spec.WhenDeleted == modelv1.PodDebuggerRestartBoxes
	if isWanted == slices.Contains(debugger.Finalizers, modelv1.PodDebuggerRestartFinalizer) {
		return false, nil
	}
	finalizers := withoutFinalizer(debugger)
	if isWanted {
		finalizers = append(finalizers, modelv1.PodDebuggerRestartFinalizer)
	}
	return true, c.SetFinalizers(ctx, debugger, finalizers)
}

func withoutFinalizer(debugger *modelv1.PodDebugger) []string {
	return slices.DeleteFunc(slices.Clone(debugger.Finalizers), func(finalizer string) bool {
		return finalizer == modelv1.PodDebuggerRestartFinalizer
	})
}

// reconcileDeletion restarts the boxes of the pods that have the container, if the PodDebugger asks for it, and removes the
// finalizer of the PodDebugger. Pods no longer get the container, so that the new pods do not have it.
func (c *Controller) reconcileDeletion(ctx context.Context, debugger *modelv1.PodDebugger, pods []*corev1.Pod) error {
	if !slices.Contains(debugger.Finalizers, modelv1.PodDebuggerRestartFinalizer) {
		return nil
	}
	if debugger.Spec.WhenDeleted == modelv1.PodDebuggerRestartBoxes {
		found, err := c.survey(debugger, pods)
		if err != nil {
			return err
		}
		for _, name := range slices.Sorted(maps.Keys(byBoxLabel(found.debugged))) {
			if err := c.restart(ctx, debugger, name, found.containerName); err != nil {
				return err
			}
		}
	}
	return c.SetFinalizers(ctx, debugger, withoutFinalizer(debugger))
}

// restart restarts the box if one of its pods has the container, unless the box was restarted since the deletion. An event reports
// a box that cannot be restarted. It does not delay the deletion.
func (c *Controller) restart(ctx context.Context, debugger *modelv1.PodDebugger, name, container string) error {
	boxes := c.modelClient.ModelV1().ModelBoxes(debugger.Namespace)
	box, err := timeout.Request(ctx, func(ctx context.Context) (*modelv1.ModelBox, error) { return boxes.Get(ctx, name, metav1.GetOptions{}) })
	switch {
	case apierrors.IsNotFound(err):
		return nil
	case err != nil:
		return fmt.Errorf("reading the box %s: %w", name, err)
	case box.DeletionTimestamp != nil || isRestartedSince(box, debugger.DeletionTimestamp.Time):
		return nil
	}
	if isDebugged, err := c.hasContainer(ctx, box, container); err != nil || !isDebugged {
		return err
	}
	_, err = timeout.Request(ctx, func(ctx context.Context) (*modelv1.ModelBoxRestart, error) {
		return boxes.CreateRestart(ctx, name, &modelv1.ModelBoxRestart{}, metav1.CreateOptions{FieldManager: render.FieldManager})
	})
	switch {
	case err == nil:
		c.event(debugger, corev1.EventTypeNormal, "BoxRestarted", fmt.Sprintf("restarted the box %s, whose pods had the container", name))
		return nil
	case apierrors.IsNotFound(err):
		return nil
	case apierrors.IsConflict(err), apierrors.IsForbidden(err), apierrors.IsInvalid(err):
		c.event(debugger, corev1.EventTypeWarning, "BoxNotRestarted", fmt.Sprintf("the pods of the box %s keep the container: %v", name, err))
		return nil
	default:
		return fmt.Errorf("restarting the box %s: %w", name, err)
	}
}

// isRestartedSince returns whether the box says that its pods are to be newer.
func isRestartedSince(box *modelv1.ModelBox, since time.Time) bool {
	if box.Spec.PodTemplate == nil {
		return false
	}
	restartedAt, err := time.Parse(time.RFC3339, box.Spec.PodTemplate.Annotations[modelv1.RestartedAtAnnotation])
	return err == nil && !restartedAt.Before(since.Truncate(time.Second))
}
