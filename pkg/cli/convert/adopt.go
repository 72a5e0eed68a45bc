// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package convert

import (
	"context"
	"errors"
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/cli/adopt"
)

func (o *Options) rewriter() *adopt.Rewriter {
	return &adopt.Rewriter{Client: o.client, FieldManager: fieldManager, Timeout: o.Timeout}
}

// adopt creates the box, which adopts the Deployment and its Service, and resumes the Deployment with its running pods.
func (o *Options) adopt(ctx context.Context, c *conversion) error {
	box, err := c.typed()
	if err != nil {
		return err
	}
	if err := o.rewriter().Prepare(ctx, c.live, c.template); err != nil {
		return err
	}
	created, err := o.boxes.ModelV1().ModelBoxes(box.Namespace).Create(ctx, box, metav1.CreateOptions{FieldManager: fieldManager})
	if err != nil {
		err = fmt.Errorf("creating box %s: %w", box.Name, err)
		return errors.Join(err, o.rewriter().Restore(context.WithoutCancel(ctx), c.live, c.template))
	}
	return o.settle(ctx, created, c.live)
}

// settle waits until the box has adopted the Deployment, and resumes the Deployment. before is the former Deployment.
func (o *Options) settle(ctx context.Context, box *modelv1.ModelBox, before *appsv1.Deployment) error {
	client := o.boxes.ModelV1().ModelBoxes(box.Namespace)
	_, err := adopt.AwaitApplied(ctx, client, o.Timeout, "box "+box.Name+" to adopt Deployment "+before.Name, box.Name)
	if err != nil {
		return fmt.Errorf("%w; the Deployment stays paused: fix the problem and run the command again", err)
	}
	if err := o.rewriter().Settle(ctx, before, false); err != nil {
		return err
	}
	data, err := adopt.Patch(box.UID, map[string]any{"metadata": map[string]any{"annotations": map[string]any{modelv1.AdoptAnnotation: nil}}})
	if err != nil {
		return err
	}
	if _, err := client.Patch(ctx, box.Name, types.MergePatchType, data, metav1.PatchOptions{FieldManager: fieldManager}); err != nil {
		return fmt.Errorf("removing annotation %s from box %s: %w", modelv1.AdoptAnnotation, box.Name, err)
	}
	return nil
}

// begun returns the box of an adoption that was interrupted, and the Deployment as it was before; nil where there was none.
func (o *Options) begun(ctx context.Context, live *appsv1.Deployment) (*modelv1.ModelBox, *appsv1.Deployment, error) {
	box, err := o.boxes.ModelV1().ModelBoxes(live.Namespace).Get(ctx, live.Name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return nil, nil, nil
	}
	if err != nil {
		return nil, nil, fmt.Errorf("getting box %s: %w", live.Name, err)
	}
	if controller := metav1.GetControllerOfNoCopy(live); controller != nil && controller.UID != box.UID ||
		box.Annotations[modelv1.AdoptAnnotation] != "true" || !live.Spec.Paused {
		return nil, nil, nil
	}
	set, err := o.rewriter().NewestReplicaSet(ctx, live)
	if set == nil || err != nil {
		return nil, nil, err
	}
	before := live.DeepCopy()
	before.Spec.Paused, before.Spec.Template = false, set.Spec.Template
	return box, before, nil
}
