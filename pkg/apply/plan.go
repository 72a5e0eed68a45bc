// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package apply

import (
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apply/fields"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/render"
)

// Plan returns the steps that make the live children of the owner as rendered, in the order of the kinds. It leaves out what is
// rendered of other kinds. Prunes come last: other children may need the pruned ones until they are as rendered.
func (p *Planner[O]) Plan(owner O, kinds []*Kind, rendered []*unstructured.Unstructured, source Source) ([]Step, error) {
	steps := make([]Step, 0, len(rendered))
	var prunes []Step
	for _, kind := range kinds {
		wanted := map[string]bool{}
		for _, object := range rendered {
			if object.GroupVersionKind() != kind.GroupVersionKind {
				continue
			}
			wanted[object.GetName()] = true
			live, err := source.Child(kind, object)
			if err != nil {
				return nil, err
			}
			planned, err := p.PlanChild(owner, Step{Kind: kind, Rendered: object, Live: live, IsLive: source.IsLive()})
			if err != nil {
				return nil, err
			}
			steps = append(steps, planned)
		}
		children, err := source.Children(kind, owner)
		if err != nil {
			return nil, err
		}
		for _, live := range children {
			if !wanted[live.GetName()] && live.GetDeletionTimestamp() == nil && p.IsOwnedBy(live, owner) && kind.isChild(live) {
				prunes = append(prunes, Step{Operation: Prune, Kind: kind, Live: live, IsLive: source.IsLive()})
			}
		}
	}
	return append(steps, prunes...), nil
}

// PlanChild says what has to be done about one child, of which the step has the kind, the rendered and the live object.
func (p *Planner[O]) PlanChild(owner O, s Step) (Step, error) {
	if s.Live == nil {
		s.Operation = Create
		return s, nil
	}
	isOurs := p.IsOwnedBy(s.Live, owner) || p.hasLostOwner(owner, s.Rendered, s.Live) || p.isRetained(owner, s)
	s.IsOwnedByPredecessor = !isOurs && p.isOwnedByPredecessor(s.Live, owner)
	s.IsUsed = !isOurs && !s.IsOwnedByPredecessor && p.isUsed(owner, s)
	if !isOurs && !s.IsOwnedByPredecessor && !s.IsUsed {
		s.Refusal = p.refusal(owner, s)
	}
	switch {
	case s.Refusal != nil:
		s.Operation = Refuse
	case s.Live.GetDeletionTimestamp() != nil:
		s.Operation = Wait
	case s.IsUsed:
		s.Operation = Keep
	case s.IsOwnedByPredecessor:
		s.Operation, s.Obstacle = Replace, fmt.Sprintf("it belonged to a %s of this name that has been deleted", p.Noun)
	case !isOurs:
		s.Operation, s.IsCopy = Adopt, p.isCopy(owner, s)
	default:
		if s.Obstacle = s.Kind.immutable(s.Rendered, s.Live); s.Obstacle == "" {
			return p.planFields(owner, s)
		}
		s.Operation = Replace
		if s.Kind.Retention != nil {
			s.Operation, s.Refusal = Refuse, &ImmutableError{Kind: s.Kind.Name(), Name: s.Name(), Obstacle: s.Obstacle}
		}
	}
	return s, nil
}

// planFields compares the fields of a child that belongs to the owner. It reads from the annotation what was last rendered, but
// only while the annotation is ours: another client may have set it, as kubectl rollout undo does.
func (p *Planner[O]) planFields(owner O, s Step) (Step, error) {
	s.answer = p.Answers.find(KeyOf(owner), s)
	if s.answer.isKept(s.Live) && !isRecorded(s.Rendered) {
		s.Operation = Keep
		return s, nil
	}
	var err error
	if s.Difference, err = p.Compare(s.Rendered, s.Live); err != nil {
		return s, err
	}
	isUpdate := fields.Fingerprint(s.Live) != "" && render.Hash(s.Rendered) != render.Hash(s.Live)
	if s, err = p.ignoreDrift(owner, s, isUpdate); err != nil {
		return s, err
	}
	if isUpdate {
		s.Operation = Update
		return s, nil
	}
	rejected := s.answer.rejectedFields()
	s.Difference.Fields = s.Difference.Fields.Difference(rejected)
	switch {
	case s.Difference.Fields.Equals(RecordFields) && !(s.IsLive && !s.IsRecordOutdated()):
		s.Operation = Record
		return s, nil
	case !s.Difference.IsEmpty():
		s.Operation = Restore
		return s, nil
	case !rejected.Empty():
		s.Operation, s.Difference.Fields = Reject, rejected
		return s, nil
	}
	isLost, err := p.hasLostFields(owner, s)
	if err != nil {
		return s, err
	}
	if isLost {
		s.Operation = Reclaim
		return s, nil
	}
	if s.Ignored == nil {
		p.Answers.keep(KeyOf(owner), s)
	}
	s.Operation = Keep
	return s, nil
}

// hasLostFields returns whether another manager has taken over fields that the last apply made ours.
func (p *Planner[O]) hasLostFields(owner O, s Step) (bool, error) {
	fingerprint := fields.Fingerprint(s.Live)
	if s.answer != nil {
		return fingerprint != s.answer.fingerprint, nil
	}
	expected, err := p.Comparer.OwnedFingerprint(s.Rendered)
	if err != nil {
		return false, err
	}
	if expected != fingerprint {
		return true, nil
	}
	p.Answers.remember(KeyOf(owner), s, answer{uid: s.Live.GetUID(), render: render.Hash(s.Rendered), fingerprint: expected})
	return false, nil
}
