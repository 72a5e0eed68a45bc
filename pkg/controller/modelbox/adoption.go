// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package modelbox

import (
	"context"
	"errors"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/timeout"
)

// errBoxChanged says that the box in the cache is not the one that there is.
var errBoxChanged = errors.New("the box has changed meanwhile")

// refusal returns why an object that does not belong to the box is left alone, nil where the box may adopt it.
func refusal(box *modelv1.ModelBox, kind *childKind, rendered *unstructured.Unstructured, live child) error {
	obstacle := kind.obstacle(rendered, live)
	if controller := metav1.GetControllerOfNoCopy(live); controller != nil {
		obstacle = fmt.Sprintf("it is controlled by %s %s", controller.Kind, controller.Name)
	}
	refused := &notOwnedError{kind: kind.kind.Kind, name: live.GetName()}
	switch {
	case obstacle == "" && asksToAdopt(box):
		return nil
	case obstacle == "":
		refused.remedy = fmt.Sprintf("delete it, give the box another name, or annotate the box with %s=true to take it over", modelv1.AdoptAnnotation)
	case asksToAdopt(box):
		refused.remedy = fmt.Sprintf("it cannot be adopted, for %s; delete it or give the box another name", obstacle)
	default:
		refused.remedy = "delete it or give the box another name"
	}
	return refused
}

func asksToAdopt(box *modelv1.ModelBox) bool {
	return box.Annotations[modelv1.AdoptAnnotation] == "true"
}

// adopt takes over an object of nobody. A box that was deleted meanwhile, so that its children be left, must not take
// them back.
func (c *Controller) adopt(ctx context.Context, box *modelv1.ModelBox, s step) (child, error) {
	now, err := c.confirm(ctx, box)
	if err != nil {
		return nil, err
	}
	if !asksToAdopt(now) {
		return nil, errBoxChanged
	}
	found, err := c.planLive(ctx, box, s)
	if err != nil {
		return nil, err
	}
	if found.verb != adopt {
		return c.carryOut(ctx, box, found)
	}
	if s, err = c.claimAdopted(ctx, box, found); err != nil {
		return nil, err
	}
	adopted, err := c.apply(ctx, box, s, true)
	if err != nil {
		return nil, err
	}
	c.eventf(box, corev1.EventTypeNormal, "Adopted"+s.kind.kind.Kind, "Adopt", "Took over %s %s, which nobody controlled", s.kind.kind.Kind, adopted.GetName())
	return adopted, nil
}

// confirm returns the box as it is now. It is for what must not be done on the word of a cache, and fails where there
// is no such box any more, or another one of its name.
func (c *Controller) confirm(ctx context.Context, box *modelv1.ModelBox) (*modelv1.ModelBox, error) {
	now, err := timeout.Request(ctx, func(ctx context.Context) (*modelv1.ModelBox, error) {
		return c.boxes.ModelV1().ModelBoxes(box.Namespace).Get(ctx, box.Name, metav1.GetOptions{})
	})
	if apierrors.IsNotFound(err) {
		return nil, errBoxChanged
	}
	if err != nil {
		return nil, fmt.Errorf("reading the box anew: %w", err)
	}
	if now.UID != box.UID || now.DeletionTimestamp != nil {
		return nil, errBoxChanged
	}
	return now, nil
}
