// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package children

import (
	"context"
	"fmt"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apply/fields"
)

// reconcileChild does one step, and returns the child as it is afterwards, nil when there is none. Where the child has to
// be read and turns out to be another than the cache has, it starts over with that.
func (e *Engine[O]) reconcileChild(ctx context.Context, owner O, s Step, result *Result) (Object, error) {
	if s.Operation == Prune {
		isInUse, err := s.Kind.inUse(keyOf(owner), s.live, result)
		if err != nil {
			return s.live, fmt.Errorf("pruning %s %s: %w", s.Kind.name(), s.Name(), err)
		}
		if isInUse {
			return s.live, nil
		}
	}
	for {
		if s.isWithoutPrerequisites(result) {
			return s.live, nil
		}
		if e.IsPaused(owner) && s.Operation == Create && s.Kind.Retention != nil && !s.isLive {
			found, err := e.planLive(ctx, owner, s)
			if err != nil {
				return nil, err
			}
			s = found // The cache hides an object that is used and is not the owner's.
			continue
		}
		if e.IsPaused(owner) && !s.keepsFields() {
			result.Pending = append(result.Pending, s.Kind.name())
			return e.recordPaused(ctx, owner, s)
		}
		if s.Operation != Keep && result.hold(&s) {
			return e.holdBack(ctx, owner, s, result), nil
		}
		if err := e.checkPreconditions(ctx, owner, s); err != nil {
			return s.live, err
		}
		if s.isLive || !s.needsLive() {
			return e.execute(ctx, owner, s, result)
		}
		found, err := e.planLive(ctx, owner, s)
		if err != nil {
			return nil, err
		}
		if found.isSameAs(s) {
			return e.execute(ctx, owner, found, result)
		}
		s = found
	}
}

// holdBack returns the child of a step that is held. The owner is enqueued when the object that has the name of the child is gone.
func (e *Engine[O]) holdBack(ctx context.Context, owner O, s Step, result *Result) Object {
	if s.Operation == Refuse {
		e.awaitName(ctx, owner, s, result)
	}
	return s.live
}

// awaitName watches an object that has the name of a child and that no failure reports.
func (e *Engine[O]) awaitName(ctx context.Context, owner O, s Step, result *Result) {
	result.awaitsName = true
	if !e.taken.watch(ctx, keyOf(owner), s.Kind, s.live) {
		result.RecheckAfter = RecheckPeriod
	}
}

// checkPreconditions returns why a step is not to be done now. It may ask for the owner, but not for the child.
func (e *Engine[O]) checkPreconditions(ctx context.Context, owner O, s Step) error {
	switch {
	case s.rendered != nil && !s.Kind.isServed():
		return &NotServedError{GroupVersionKind: s.Kind.GroupVersionKind}
	case s.Operation == Restore:
		return e.conflictOf(s)
	case s.Operation == Adopt:
		return e.confirmAdoption(ctx, owner, s)
	case s.Operation == Replace && s.isOwnedByPredecessor:
		_, err := e.confirmOwner(ctx, owner)
		return err
	case s.Operation == Prune && s.Kind.Retention != nil:
		return e.confirmGeneration(ctx, owner)
	default:
		return nil
	}
}

// execute does a step whose preconditions hold and that is planned from what the cluster has, as far as it has to be.
func (e *Engine[O]) execute(ctx context.Context, owner O, s Step, result *Result) (Object, error) {
	if s.Operation != Create && s.Operation != Replace && s.Operation != Wait {
		e.predecessors.replaced(keyOf(owner), childName{s.Kind.name(), s.Name()})
	}
	if s.isUsed {
		e.awaitName(ctx, owner, s, result)
	}
	if s.ignored != nil {
		result.Ignored = append(result.Ignored, IgnoredDrift{Kind: s.Kind.name(), Name: s.Name(), Fields: s.ignored})
	}
	switch s.Operation {
	case Create:
		return e.create(ctx, owner, s)
	case Update:
		return e.update(ctx, owner, s)
	case Restore:
		return e.restore(ctx, owner, s)
	case Record:
		return e.record(ctx, owner, s)
	case Reclaim:
		return e.reclaim(ctx, owner, s)
	case Replace:
		return e.replace(ctx, owner, s, result)
	case Prune:
		return nil, e.prune(ctx, owner, s)
	case Adopt:
		return e.adopt(ctx, owner, s)
	case Refuse:
		e.taken.watch(ctx, keyOf(owner), s.Kind, s.live)
		return nil, s.refusal
	case Reject:
		return s.live, e.rejection(s, s.Difference)
	case Wait:
		return nil, fmt.Errorf("%s %s: %w", s.Kind.name(), s.Name(), ErrBeingDeleted)
	default:
		return s.live, nil
	}
}

// rejection says that the cluster does not take fields of the child.
func (e *Engine[O]) rejection(s Step, rejected *fields.Difference) error {
	return &RejectedError{Noun: e.Noun, Kind: s.Kind.name(), Name: s.Name(), Fields: fields.Names(rejected.Fields)}
}
