// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package modelbox

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/retry"
	"k8s.io/klog/v2"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/render"
)

// claim makes fields of the live child ours, see comparer.claim. It changes nothing but managed fields, so no pod rolls
// for it, and does nothing where the fields are ours already.
func (c *Controller) claim(ctx context.Context, box *modelv1.ModelBox, s step, own, exclusive *fieldpath.Set) (child, error) {
	managedFields, isChanged, err := c.compare.claim(s.live, s.rendered, own, exclusive)
	if err != nil || !isChanged {
		return s.live, err
	}
	patch, err := managedFieldsPatch(s.live, managedFields)
	if err != nil {
		return nil, fmt.Errorf("encoding the managed fields of %s %s: %w", s.kind.kind.Kind, s.live.GetName(), err)
	}
	claimed, err := s.kind.patch(ctx, box.Namespace, s.live.GetName(), types.JSONPatchType, patch, metav1.PatchOptions{FieldManager: render.ManagedBy})
	if err != nil {
		return nil, fmt.Errorf("claiming fields of %s %s: %w", s.kind.kind.Kind, s.live.GetName(), err)
	}
	c.wrote(box, s, claimed)
	klog.FromContext(ctx).V(2).Info("Claimed fields of child", "reason", s.verb, "kind", s.kind.kind.Kind, "child", klog.KObj(claimed))
	return claimed, nil
}

// claimConflicting makes ours what is in the way of the render, so that applying it takes that out. The live child of
// the step has to have its managed fields.
func (c *Controller) claimConflicting(ctx context.Context, box *modelv1.ModelBox, s step) (step, error) {
	live, err := c.compare.liveFields(s.live)
	if err != nil {
		return s, err
	}
	renamed, err := notApplied(s.live, s.difference.renamed)
	if err != nil {
		return s, err
	}
	exclusive := below(live, s.difference.conflicting.Union(renamed))
	if s.live, err = c.claim(ctx, box, s, noFields(), exclusive); err != nil {
		return s, err
	}
	return s, nil
}

// claimShared makes the fields of a child that was applied ours alone, but for those of other appliers. Nothing else would
// notice that they are shared, so somebody who writes to the child in between, as its controller does, is waited for.
func (c *Controller) claimShared(ctx context.Context, box *modelv1.ModelBox, s step, applied child) (child, error) {
	var claimed child
	err := retry.RetryOnConflict(retry.DefaultRetry, func() (err error) {
		claimed, err = c.claimSharedOf(ctx, box, s, applied)
		if !apierrors.IsConflict(err) {
			return err
		}
		live, getErr := s.kind.get(ctx, box.Namespace, applied.GetName())
		if getErr != nil {
			return getErr
		}
		applied = live
		return err
	})
	return claimed, err
}

func (c *Controller) claimSharedOf(ctx context.Context, box *modelv1.ModelBox, s step, applied child) (child, error) {
	for i := range applied.GetManagedFields() {
		if entry := &applied.GetManagedFields()[i]; isOurs(entry) {
			own, err := fieldsOf(entry)
			if err != nil {
				return nil, err
			}
			s.live = applied
			return c.claim(ctx, box, s, own, noFields())
		}
	}
	return applied, nil
}

// claimAdopted makes everything ours that the box says or could say about a child that it adopts. What the box leaves
// out goes with the next apply.
func (c *Controller) claimAdopted(ctx context.Context, box *modelv1.ModelBox, s step) (step, error) {
	live, err := c.compare.liveFields(s.live)
	if err != nil {
		return s, err
	}
	own, err := c.compare.ownedFields(s.rendered)
	if err != nil {
		return s, err
	}
	spec := fieldpath.NewSet(fieldpath.MakePathOrDie("spec"))
	exclusive := below(live, spec).Difference(spec).Difference(below(live, s.kind.kept))
	if s.live, err = c.claim(ctx, box, s, own.Intersection(live), exclusive); err != nil {
		return s, err
	}
	return s, nil
}

// notApplied returns the fields that no applier but us has. What somebody applies is meant to be there.
func notApplied(live metav1.Object, fields *fieldpath.Set) (*fieldpath.Set, error) {
	for i := range live.GetManagedFields() {
		entry := &live.GetManagedFields()[i]
		if entry.Operation != metav1.ManagedFieldsOperationApply || isOurs(entry) || entry.FieldsV1 == nil {
			continue
		}
		applied, err := fieldsOf(entry)
		if err != nil {
			return nil, err
		}
		fields = fields.Difference(applied)
	}
	return fields, nil
}

func noFields() *fieldpath.Set { return fieldpath.NewSet() }
