// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package children

import (
	"context"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apply"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/timeout"
)

// confirmAdoption returns an error unless the owner still asks for the child and may adopt the live object in its place. An owner
// that was deleted in the meantime, and orphaned its children, must not take them back. An owner that no longer asks for the child
// would prune the object next.
func (e *Engine[O]) confirmAdoption(ctx context.Context, owner O, s apply.Step) error {
	now, err := e.confirmOwner(ctx, owner)
	if err != nil {
		return err
	}
	rendered, err := e.Render(now, e.live(now, s.Live))
	if err != nil {
		return err
	}
	i := slices.IndexFunc(rendered, s.IsOf)
	if i < 0 {
		return e.ownerChanged()
	}
	if s.Rendered = rendered[i]; !e.planner.MayAdopt(now, s) {
		return e.ownerChanged()
	}
	return nil
}

// confirmOwner reads the owner from its API server. It is for actions that must not rely on a cache. It returns an error if the
// owner is gone or going, or if another owner has its name.
func (e *Engine[O]) confirmOwner(ctx context.Context, owner O) (O, error) {
	now, err := timeout.Request(ctx, func(ctx context.Context) (O, error) {
		return e.GetOwner(ctx, owner.GetNamespace(), owner.GetName())
	})
	switch {
	case apierrors.IsNotFound(err):
		return now, e.ownerChanged()
	case err != nil:
		return now, fmt.Errorf("reading the %s again: %w", e.Noun, err)
	case now.GetUID() != owner.GetUID() || now.GetDeletionTimestamp() != nil:
		return now, e.ownerChanged()
	default:
		return now, nil
	}
}

// confirmGeneration returns an error unless the owner still asks for what the cache says. No data is lost on the word of a cache.
func (e *Engine[O]) confirmGeneration(ctx context.Context, owner O) error {
	now, err := e.confirmOwner(ctx, owner)
	if err == nil && now.GetGeneration() != owner.GetGeneration() {
		err = e.ownerChanged()
	}
	return err
}

func (e *Engine[O]) ownerChanged() error { return fmt.Errorf("the %s %w", e.Noun, ErrOwnerChanged) }

// adopt takes over an object that no controller controls.
func (e *Engine[O]) adopt(ctx context.Context, owner O, s apply.Step) (Object, error) {
	s, err := e.claimAdopted(ctx, owner, s)
	if err != nil {
		return nil, err
	}
	adopted, err := e.apply(ctx, owner, s, true)
	if err != nil {
		return nil, err
	}
	e.childEventf(owner, s.Kind, adopted, corev1.EventTypeNormal, "Adopted"+s.Kind.Name(), "Adopt", "Took over %s %s, which had no controller", s.Kind.Name(), adopted.GetName())
	return adopted, nil
}
