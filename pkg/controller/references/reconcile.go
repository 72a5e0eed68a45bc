// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package references

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/apply"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/reconciler"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/timeout"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/render"
	modelboxrender "github.com/sharelinuxs/modelbox-apiserver/pkg/render/modelbox"
)

// failureRecheck is the time after which a cache that cannot be filled is checked again.
const failureRecheck = 5 * time.Second

// reconcile records the hashes of the references of one box, if they have changed. Its results are the results of Reconcile in
// reconciler.Config.
func (c *Controller) reconcile(ctx context.Context, box *modelv1.ModelBox) (time.Duration, error) {
	key := apply.KeyOf(box)
	if !box.Spec.RestartsOnReferences() {
		c.pace.Forget(key)
		return 0, c.releaseCaches(ctx, key)
	}
	if box.Spec.Paused {
		return 0, nil
	}
	found, recheckAfter, err := c.hashReferences(ctx, box)
	if err != nil {
		c.warn(box, err)
		return 0, err
	}
	if recheckAfter > 0 {
		return recheckAfter, nil
	}
	recorded := modelboxrender.RecordedReferences(&box.Spec)
	if apiequality.Semantic.DeepEqual(recorded, found) {
		c.pace.Forget(key)
		return 0, nil
	}
	// A change of the box itself restarts the pods as soon as the hashes are recorded, and needs no turn.
	isRestart := recorded.Of == found.Of
	if isRestart {
		if wait := c.pace.wait(key); wait > 0 {
			return wait, nil
		}
	}
	if err := c.record(ctx, box, found); err != nil {
		return 0, err
	}
	c.pace.Forget(key)
	if isRestart {
		c.Eventf(box, nil, corev1.EventTypeNormal, "Restarted", "Restart", "Restarted the box because its references changed: %s", modelboxrender.DescribeReferenceChanges(recorded, found))
	}
	return 0, nil
}

// hashReferences returns the hashes of the references of the box. If they are not known yet, it returns after how long to check again.
func (c *Controller) hashReferences(ctx context.Context, box *modelv1.ModelBox) (modelboxrender.ReferenceHashes, time.Duration, error) {
	var none modelboxrender.ReferenceHashes
	references, err := modelboxrender.References(box)
	if err != nil {
		return none, 0, fmt.Errorf("rendering the references: %w", err)
	}
	hasher, err := c.key.get(ctx)
	if err != nil {
		return none, 0, err
	}
	found := hashes{}
	for i := range references {
		reference := &references[i]
		if !c.isWatched(reference.Kind) {
			continue
		}
		objects, err := c.objects.get(reference.Kind, box.Namespace, hasher)
		if err != nil {
			return none, 0, err
		}
		if hasSynced, failure := objects.hasSynced(); !hasSynced {
			if failure != nil {
				c.warn(box, fmt.Errorf("watching the %ss of the namespace: %w", reference.Kind, failure))
				return none, failureRecheck, nil
			}
			return none, reconciler.StaleCacheRetry, nil
		}
		object, err := objects.hashes(box.Namespace, reference.Name)
		if err != nil {
			return none, 0, fmt.Errorf("reading %s %s: %w", reference.Kind, reference.Name, err)
		}
		found[reference.Kind+"/"+reference.Name] = object.used(reference)
	}
	if found, err = shortened(found); err != nil {
		return none, 0, fmt.Errorf("encoding the hashes of the references: %w", err)
	}
	return modelboxrender.ReferenceHashes{Of: modelboxrender.ReferencesID(references), Objects: found}, 0, nil
}

// record writes the hashes into the pod template of the box, unless the box has changed meanwhile.
func (c *Controller) record(ctx context.Context, box *modelv1.ModelBox, found modelboxrender.ReferenceHashes) error {
	annotation, err := json.Marshal(found)
	if err != nil {
		return fmt.Errorf("encoding the hashes of the references: %w", err)
	}
	patch, err := json.Marshal(map[string]any{
		"metadata": map[string]any{"uid": box.UID, "resourceVersion": box.ResourceVersion},
		"spec": map[string]any{"podTemplate": map[string]any{"metadata": map[string]any{
			"annotations": map[string]string{modelv1.ReferencesAnnotation: string(annotation)},
		}}},
	})
	if err != nil {
		return fmt.Errorf("encoding the hashes of the references: %w", err)
	}
	written, err := timeout.Request(ctx, func(ctx context.Context) (*modelv1.ModelBox, error) {
		return c.modelClient.ModelV1().ModelBoxes(box.Namespace).Patch(ctx, box.Name, types.MergePatchType, patch, metav1.PatchOptions{FieldManager: render.FieldManager})
	})
	if err != nil {
		return fmt.Errorf("recording the hashes of the references: %w", err)
	}
	c.Consistency.WroteAt(apply.KeyOf(box), box.UID, boxResource, written.ResourceVersion)
	return nil
}
