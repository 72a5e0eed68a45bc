// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package children

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apply"
)

// Plan says what Reconcile would do as long as the caches are right, and what the owner asks for. It sends no request.
func (e *Engine[O]) Plan(owner O) ([]apply.Step, []*unstructured.Unstructured, error) {
	rendered, err := e.Render(owner, e.live(owner, nil))
	if err != nil {
		return nil, nil, err
	}
	steps, err := e.plan(owner, rendered)
	if err != nil {
		return nil, nil, fmt.Errorf("comparing the children: %w", err)
	}
	return steps, rendered, nil
}

func (e *Engine[O]) plan(owner O, rendered []*unstructured.Unstructured) ([]apply.Step, error) {
	kinds := make([]*apply.Kind, len(e.Kinds))
	for i, kind := range e.Kinds {
		kinds[i] = &kind.Kind
	}
	steps, err := e.planner.Plan(owner, kinds, rendered, cachedChildren{e.kinds, e.ownerIndex()})
	if err != nil {
		return nil, err
	}
	for i := range steps {
		if steps[i], err = e.planUsed(owner, steps[i]); err != nil {
			return nil, err
		}
	}
	return steps, nil
}

// planUsed plans for an object that does not belong to the owner, is used all the same, and has been watched since. The caches hide
// it: for them, there is nothing in its place.
func (e *Engine[O]) planUsed(owner O, s apply.Step) (apply.Step, error) {
	if s.Operation != apply.Create || s.Kind.Retention == nil {
		return s, nil
	}
	object := e.taken.find(apply.KeyOf(owner), e.kindOf(s), s.Name())
	if object == nil {
		return s, nil
	}
	used, err := e.planner.PlanChild(owner, apply.Step{Kind: s.Kind, Rendered: s.Rendered, Live: object})
	if err != nil || used.IsUsed && used.Operation == apply.Keep {
		return used, err
	}
	return s, nil
}

// planLive says what has to be done about the child of a step as the cluster has it, and not as the cache does.
func (e *Engine[O]) planLive(ctx context.Context, owner O, s apply.Step) (apply.Step, error) {
	live, err := e.kindOf(s).get(ctx, owner.GetNamespace(), s.Name())
	switch {
	case apierrors.IsNotFound(err) && s.Live == nil:
		s.IsLive = true
		return s, nil
	case apierrors.IsNotFound(err):
		return s, fmt.Errorf("%s %s: %w", s.Kind.Name(), s.Name(), ErrChildGone)
	case err != nil && s.Live == nil:
		return s, fmt.Errorf("looking for a %s of the %s's name: %w", s.Kind.Name(), e.Noun, err)
	case err != nil:
		return s, fmt.Errorf("reading %s %s: %w", s.Kind.Name(), s.Name(), err)
	}
	all, err := e.Render(owner, e.live(owner, live))
	if err != nil {
		return s, err
	}
	for _, rendered := range all {
		if s.IsOf(rendered) {
			return e.planner.PlanChild(owner, apply.Step{Kind: s.Kind, Rendered: rendered, Live: live, IsLive: true})
		}
	}
	return s, fmt.Errorf("%s %s: %w", s.Kind.Name(), s.Name(), errChildChanged)
}

// cachedChildren are the children that the informers of the kinds have, as an apply.Source.
type cachedChildren struct {
	kinds map[*apply.Kind]*Kind
	// ownerIndex is the name of the index by owner.
	ownerIndex string
}

// Child implements apply.Source.
func (c cachedChildren) Child(kind *apply.Kind, rendered *unstructured.Unstructured) (apply.Object, error) {
	cached, err := c.kinds[kind].cached(rendered.GetNamespace(), rendered.GetName())
	return c.kinds[kind].untrimmed(cached, rendered), err
}

// Children implements apply.Source.
func (c cachedChildren) Children(kind *apply.Kind, owner metav1.Object) ([]apply.Object, error) {
	return c.kinds[kind].controlledBy(c.ownerIndex, apply.IDOf(owner))
}

// IsLive implements apply.Source.
func (c cachedChildren) IsLive() bool { return false }
