// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package children

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
	"github.com/sharelinuxs/modelbox-apiserver/pkg/apply"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/apply/fields"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/render"
)

// claim makes fields of the live child ours, see fields.Comparer.Claim. It changes nothing but managed fields, so no pod rolls
// for it, and does nothing where the fields are ours already.
func (e *Engine[O]) claim(ctx context.Context, owner O, s apply.Step, own, exclusive *fieldpath.Set) (Object, error) {
	managedFields, isChanged, err := e.compare.Claim(s.Live, s.Rendered, own, exclusive)
	if err != nil || !isChanged {
		return s.Live, err
	}
	patch, err := fields.ManagedFieldsPatch(s.Live, managedFields)
	if err != nil {
		return nil, fmt.Errorf("encoding the managed fields of %s %s: %w", s.Kind.Name(), s.Live.GetName(), err)
	}
	claimed, err := e.kindOf(s).patch(ctx, owner.GetNamespace(), s.Live.GetName(), types.JSONPatchType, patch, metav1.PatchOptions{FieldManager: render.FieldManager})
	if err != nil {
		return nil, fmt.Errorf("claiming fields of %s %s: %w", s.Kind.Name(), s.Live.GetName(), err)
	}
	e.wrote(owner, s, claimed)
	klog.FromContext(ctx).V(2).Info("Claimed fields of child", "operation", s.Operation, "kind", s.Kind.Name(), "child", klog.KObj(claimed))
	return claimed, nil
}

// claimConflicting makes the fields ours that conflict with the render, so that applying the render removes them. The
// live child of the step must have its managed fields.
func (e *Engine[O]) claimConflicting(ctx context.Context, owner O, s apply.Step) (apply.Step, error) {
	live, err := e.compare.LiveFields(s.Live)
	if err != nil {
		return s, err
	}
	renamed, err := fields.NotApplied(s.Live, s.Difference.Renamed)
	if err != nil {
		return s, err
	}
	exclusive := fields.Below(live, s.Difference.Conflicting.Union(renamed))
	if s.Live, err = e.claim(ctx, owner, s, fieldpath.NewSet(), exclusive); err != nil {
		return s, err
	}
	return s, nil
}

// claimShared makes the fields of a child that was applied ours alone, except for fields that other appliers have as well. Nothing
// else would notice that the fields are shared. So claimShared tries again if another client, such as the controller of the child,
// writes to the child in between.
func (e *Engine[O]) claimShared(ctx context.Context, owner O, s apply.Step, applied Object) (Object, error) {
	return retryOnConflict(ctx, e.kindOf(s), applied, func(applied Object) (Object, error) {
		return e.claimSharedOf(ctx, owner, s, applied)
	})
}

// retryOnConflict calls do with a child that was just written. If another client, such as the controller of the child, writes to
// the child in between, it calls do again with the child as it is then.
func retryOnConflict(ctx context.Context, kind *Kind, written Object, do func(child Object) (Object, error)) (Object, error) {
	var done Object
	err := retry.RetryOnConflict(retry.DefaultRetry, func() (err error) {
		done, err = do(written)
		if !apierrors.IsConflict(err) {
			return err
		}
		live, getErr := kind.get(ctx, written.GetNamespace(), written.GetName())
		switch {
		case getErr != nil:
			return getErr
		case live.GetUID() != written.GetUID():
			return errChildChanged
		}
		written = live
		return err
	})
	return done, err
}

func (e *Engine[O]) claimSharedOf(ctx context.Context, owner O, s apply.Step, applied Object) (Object, error) {
	own, err := fields.Owned(applied)
	if err != nil {
		return nil, err
	}
	if own.Empty() {
		return applied, nil
	}
	s.Live = applied
	return e.claim(ctx, owner, s, own, fieldpath.NewSet())
}

// content are the fields below which an owner could ask for each.
var content = fieldpath.NewSet(
	fieldpath.MakePathOrDie("spec"),
	fieldpath.MakePathOrDie("data"),
	fieldpath.MakePathOrDie("binaryData"),
)

// consent is the annotation of a child that lets an owner adopt it.
var consent = fieldpath.NewSet(fieldpath.MakePathOrDie("metadata", "annotations", modelv1.AdoptAnnotation))

// claimAdopted makes all fields of an adopted child ours that the owner asks for or could ask for. The next apply removes the
// fields that the render leaves out.
func (e *Engine[O]) claimAdopted(ctx context.Context, owner O, s apply.Step) (apply.Step, error) {
	live, err := e.compare.LiveFields(s.Live)
	if err != nil {
		return s, err
	}
	own, err := e.compare.OwnedFields(s.Rendered)
	if err != nil {
		return s, err
	}
	exclusive := fields.Below(live, content).Difference(content).Difference(fields.Below(live, e.kindOf(s).preservedFields()))
	if e.ConsentIsOnChild {
		exclusive = exclusive.Union(consent)
	}
	if s.Live, err = e.claim(ctx, owner, s, own.Intersection(live), exclusive); err != nil {
		return s, err
	}
	return s, nil
}
