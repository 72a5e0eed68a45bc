// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package children

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apply/fields"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/render"
)

// Plan says what Reconcile would do as long as the caches are right, and what the owner asks for. It sends no request.
func (e *Engine[O]) Plan(owner O) ([]Step, []*unstructured.Unstructured, error) {
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

// plan returns the steps that make the live children of the owner as rendered. Prunes come last: other children may need the pruned
// ones until they are as rendered.
func (e *Engine[O]) plan(owner O, rendered []*unstructured.Unstructured) ([]Step, error) {
	steps := make([]Step, 0, len(rendered))
	var prunes []Step
	for _, kind := range e.Kinds {
		wanted := map[string]bool{}
		for _, object := range rendered {
			if object.GroupVersionKind() != kind.GroupVersionKind {
				continue
			}
			wanted[object.GetName()] = true
			live, err := kind.cached(owner.GetNamespace(), object.GetName())
			if err != nil {
				return nil, err
			}
			planned, err := e.planCached(owner, Step{Kind: kind, rendered: object, live: kind.untrimmed(live, object)})
			if err != nil {
				return nil, err
			}
			steps = append(steps, planned)
		}
		controlled, err := kind.controlledBy(e.ownerIndex(), idOf(owner))
		if err != nil {
			return nil, err
		}
		for _, live := range controlled {
			if !wanted[live.GetName()] && live.GetDeletionTimestamp() == nil {
				prunes = append(prunes, Step{Operation: Prune, Kind: kind, live: live})
			}
		}
	}
	return append(steps, prunes...), nil
}

// planCached is planChild for a child as the caches have it. The caches hide objects that do not belong to the owner. Such an
// object need not be read again if it is used and has been watched since.
func (e *Engine[O]) planCached(owner O, s Step) (Step, error) {
	if s.live == nil && s.Kind.Retention != nil {
		used := s
		if used.live = e.taken.find(keyOf(owner), s.Kind, s.Name()); used.live != nil {
			if used, err := e.planChild(owner, used); err != nil || used.isUsed && used.Operation == Keep {
				return used, err
			}
		}
	}
	return e.planChild(owner, s)
}

// planLive says what has to be done about the child of a step as the cluster has it, and not as the cache does.
func (e *Engine[O]) planLive(ctx context.Context, owner O, s Step) (Step, error) {
	live, err := s.Kind.get(ctx, owner.GetNamespace(), s.Name())
	switch {
	case apierrors.IsNotFound(err) && s.live == nil:
		s.isLive = true
		return s, nil
	case apierrors.IsNotFound(err):
		return s, fmt.Errorf("%s %s: %w", s.Kind.name(), s.Name(), ErrChildGone)
	case err != nil && s.live == nil:
		return s, fmt.Errorf("looking for a %s of the %s's name: %w", s.Kind.name(), e.Noun, err)
	case err != nil:
		return s, fmt.Errorf("reading %s %s: %w", s.Kind.name(), s.Name(), err)
	}
	all, err := e.Render(owner, e.live(owner, live))
	if err != nil {
		return s, err
	}
	for _, rendered := range all {
		if s.isOf(rendered) {
			return e.planChild(owner, Step{Kind: s.Kind, rendered: rendered, live: live, isLive: true})
		}
	}
	return s, fmt.Errorf("%s %s: %w", s.Kind.name(), s.Name(), errChildChanged)
}

// planChild compares one rendered child with the live one.
func (e *Engine[O]) planChild(owner O, s Step) (Step, error) {
	if s.live == nil {
		s.Operation = Create
		return s, nil
	}
	isOurs := e.IsOwnedBy(s.live, owner) || e.hasLostOwner(owner, s.rendered, s.live) || e.isRetained(owner, s)
	s.isOwnedByPredecessor = !isOurs && e.isOwnedByPredecessor(s.live, owner)
	s.isUsed = !isOurs && !s.isOwnedByPredecessor && e.isUsed(owner, s)
	if !isOurs && !s.isOwnedByPredecessor && !s.isUsed {
		s.refusal = e.refusal(owner, s)
	}
	switch {
	case s.refusal != nil:
		s.Operation = Refuse
	case s.live.GetDeletionTimestamp() != nil:
		s.Operation = Wait
	case s.isUsed:
		s.Operation = Keep
	case s.isOwnedByPredecessor:
		s.Operation, s.obstacle = Replace, fmt.Sprintf("it belonged to a %s of this name that has been deleted", e.Noun)
	case !isOurs:
		s.Operation = Adopt
	default:
		if s.obstacle = s.Kind.immutable(s.rendered, s.live); s.obstacle == "" {
			return e.planFields(owner, s)
		}
		s.Operation = Replace
		if s.Kind.Retention != nil {
			s.Operation, s.refusal = Refuse, &ImmutableError{Kind: s.Kind.name(), Name: s.Name(), Obstacle: s.obstacle}
		}
	}
	return s, nil
}

// planFields compares the fields of a child that belongs to the owner. It reads from the annotation what was last rendered, but
// only while the annotation is ours: another client may have set it, as kubectl rollout undo does.
func (e *Engine[O]) planFields(owner O, s Step) (Step, error) {
	s.answer = e.applied.find(keyOf(owner), s)
	if s.answer.isKept(s.live) && !isRecorded(s.rendered) {
		s.Operation = Keep
		return s, nil
	}
	var err error
	if s.Difference, err = e.compareChild(s.rendered, s.live); err != nil {
		return s, err
	}
	isUpdate := fields.Fingerprint(s.live) != "" && render.Hash(s.rendered) != render.Hash(s.live)
	if s, err = e.ignoreDrift(owner, s, isUpdate); err != nil {
		return s, err
	}
	if isUpdate {
		s.Operation = Update
		return s, nil
	}
	rejected := s.answer.rejectedFields()
	s.Difference.Fields = s.Difference.Fields.Difference(rejected)
	switch {
	case s.Difference.Fields.Equals(recordFields) && !(s.isLive && !s.isRecordOutdated()):
		s.Operation = Record
		return s, nil
	case !s.Difference.IsEmpty():
		s.Operation = Restore
		return s, nil
	case !rejected.Empty():
		s.Operation, s.Difference.Fields = Reject, rejected
		return s, nil
	}
	isLost, err := e.hasLostFields(owner, s)
	if err != nil {
		return s, err
	}
	if isLost {
		s.Operation = Reclaim
		return s, nil
	}
	if s.ignored == nil {
		e.applied.keep(keyOf(owner), s)
	}
	s.Operation = Keep
	return s, nil
}

// hasLostFields returns whether another manager has taken over fields that the last apply made ours.
func (e *Engine[O]) hasLostFields(owner O, s Step) (bool, error) {
	fingerprint := fields.Fingerprint(s.live)
	if s.answer != nil {
		return fingerprint != s.answer.fingerprint, nil
	}
	expected, err := e.compare.OwnedFingerprint(s.rendered)
	if err != nil {
		return false, err
	}
	if expected != fingerprint {
		return true, nil
	}
	e.applied.remember(keyOf(owner), s, appliedAnswer{uid: s.live.GetUID(), render: render.Hash(s.rendered), fingerprint: expected})
	return false, nil
}
