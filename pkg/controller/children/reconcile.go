// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package children

import (
	"context"
	"fmt"
	"slices"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apply"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/apply/fields"
)

// reconcileChild does one step, and returns the child as it is afterwards, nil when there is none. Where the child has to
// be read and turns out to be another than the cache has, it starts over with that.
func (e *Engine[O]) reconcileChild(ctx context.Context, owner O, s apply.Step, result *Result) (Object, error) {
	if s.Operation == apply.Prune {
		isInUse, err := e.kindOf(s).inUse(apply.KeyOf(owner), s.Live, result)
		if err != nil {
			return s.Live, fmt.Errorf("pruning %s %s: %w", s.Kind.Name(), s.Name(), err)
		}
		if isInUse {
			return s.Live, nil
		}
	}
	for {
		if e.isWithoutPrerequisites(s, result) {
			return s.Live, nil
		}
		if e.IsPaused(owner) && s.Operation == apply.Create && s.Kind.Retention != nil && !s.IsLive {
			found, err := e.planLive(ctx, owner, s)
			if err != nil {
				return nil, err
			}
			s = found // The cache hides an object that is used and is not the owner's.
			continue
		}
		if e.IsPaused(owner) && !s.KeepsFields() {
			result.Pending = append(result.Pending, s.Kind.Name())
			return e.recordPaused(ctx, owner, s)
		}
		if s.Operation != apply.Keep && result.hold(&s) {
			return e.holdBack(ctx, owner, s, result), nil
		}
		if err := e.checkPreconditions(ctx, owner, s); err != nil {
			return s.Live, err
		}
		if s.IsLive || !s.NeedsLive() {
			return e.execute(ctx, owner, s, result)
		}
		found, err := e.planLive(ctx, owner, s)
		if err != nil {
			return nil, err
		}
		if found.IsSameAs(s) {
			return e.execute(ctx, owner, found, result)
		}
		s = found
	}
}

// holdBack returns the child of a step that is held. The owner is enqueued when the object that has the name of the child is gone.
func (e *Engine[O]) holdBack(ctx context.Context, owner O, s apply.Step, result *Result) Object {
	if s.Operation == apply.Refuse {
		e.awaitName(ctx, owner, s, result)
	}
	return s.Live
}

// awaitName watches an object that has the name of a child and that no failure reports.
func (e *Engine[O]) awaitName(ctx context.Context, owner O, s apply.Step, result *Result) {
	result.awaitsName = true
	if !e.taken.watch(ctx, apply.KeyOf(owner), e.kindOf(s), s.Live) {
		result.RecheckAfter = RecheckPeriod
	}
}

// checkPreconditions returns why a step is not to be done now. It may ask for the owner, but not for the child.
func (e *Engine[O]) checkPreconditions(ctx context.Context, owner O, s apply.Step) error {
	switch {
	case s.Rendered != nil && !e.kindOf(s).isServed():
		return &NotServedError{GroupVersionKind: s.Kind.GroupVersionKind}
	case s.Operation == apply.Restore:
		return e.conflictOf(s)
	case s.Operation == apply.Adopt:
		return e.confirmAdoption(ctx, owner, s)
	case s.Operation == apply.Replace && s.IsOwnedByPredecessor:
		_, err := e.confirmOwner(ctx, owner)
		return err
	case s.Operation == apply.Prune && s.Kind.Retention != nil:
		return e.confirmGeneration(ctx, owner)
	default:
		return nil
	}
}

// execute does a step whose preconditions hold and that is planned from what the cluster has, as far as it has to be.
func (e *Engine[O]) execute(ctx context.Context, owner O, s apply.Step, result *Result) (Object, error) {
	if s.Operation != apply.Create && s.Operation != apply.Replace && s.Operation != apply.Wait {
		e.predecessors.replaced(apply.KeyOf(owner), childName{s.Kind.Name(), s.Name()})
	}
	if s.IsUsed {
		e.awaitName(ctx, owner, s, result)
	}
	if s.Ignored != nil {
		result.Ignored = append(result.Ignored, IgnoredDrift{Kind: s.Kind.Name(), Name: s.Name(), Fields: s.Ignored})
	}
	switch s.Operation {
	case apply.Create:
		return e.create(ctx, owner, s)
	case apply.Update:
		return e.update(ctx, owner, s)
	case apply.Restore:
		return e.restore(ctx, owner, s)
	case apply.Record:
		return e.record(ctx, owner, s)
	case apply.Reclaim:
		return e.reclaim(ctx, owner, s)
	case apply.Replace:
		return e.replace(ctx, owner, s, result)
	case apply.Prune:
		return nil, e.prune(ctx, owner, s)
	case apply.Adopt:
		return e.adopt(ctx, owner, s)
	case apply.Refuse:
		e.taken.watch(ctx, apply.KeyOf(owner), e.kindOf(s), s.Live)
		return nil, s.Refusal
	case apply.Reject:
		return s.Live, e.rejection(s, s.Difference)
	case apply.Wait:
		return nil, fmt.Errorf("%s %s: %w", s.Kind.Name(), s.Name(), ErrBeingDeleted)
	default:
		return s.Live, nil
	}
}

// rejection says that the cluster does not take fields of the child.
func (e *Engine[O]) rejection(s apply.Step, rejected *fields.Difference) error {
	return &RejectedError{Noun: e.Noun, Kind: s.Kind.Name(), Name: s.Name(), Fields: fields.Names(rejected.Fields)}
}

// isWithoutPrerequisites returns whether the step changes a child that relies on another child, which could not be written. It
// returns false if nothing else would end the wait: if the child relies on one that is being deleted and that stays until this
// child is gone, or if the child belongs to an owner that is gone.
func (e *Engine[O]) isWithoutPrerequisites(s apply.Step, result *Result) bool {
	switch s.Operation {
	case apply.Create, apply.Update, apply.Replace, apply.Adopt:
		return !(s.Operation == apply.Replace && s.IsOwnedByPredecessor) && slices.ContainsFunc(result.unusable, func(other apply.Step) bool {
			return slices.Contains(e.kindOf(s).Prerequisites, e.kindOf(other)) && !e.reliesAlready(s, other)
		})
	default:
		return false
	}
}

// reliesAlready returns whether the live child relies on the child of the other step, which is being deleted.
func (e *Engine[O]) reliesAlready(s, other apply.Step) bool {
	kind := e.kindOf(s)
	return s.Live != nil && (s.Operation == apply.Update || s.Operation == apply.Replace) && other.Operation == apply.Wait &&
		kind.Relies != nil && kind.Relies(s.Live, other.Live)
}
