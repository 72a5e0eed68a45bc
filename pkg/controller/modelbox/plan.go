// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package modelbox

import (
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/render"
)

// verb is what has to be done about one child.
type verb string

const (
	// keep: the child is as the box says.
	keep verb = "Keep"
	// create: the child is not there.
	create verb = "Create"
	// update: the box says something else than when the child was last written.
	update verb = "Update"
	// restore: somebody else changed what the box says.
	restore verb = "Restore"
	// record: the child is as the box says, but for the record of the box.
	record verb = "Record"
	// reclaim: the child is as the box says, and somebody else has taken over some of its fields.
	reclaim verb = "Reclaim"
	// reject: the cluster does not take some field of the child as the box says.
	reject verb = "Reject"
	// replace: the child cannot become what the box says.
	replace verb = "Replace"
	// prune: the box does not ask for the child any more.
	prune verb = "Prune"
	// adopt: the name is taken by an object of nobody, and the box asks to take it over.
	adopt verb = "Adopt"
	// refuse: the name is taken by an object that is not the box's.
	refuse verb = "Refuse"
	// wait: the child is being deleted, and can only be created again when it is gone.
	wait verb = "Wait"
)

// keepsFields returns whether the child has the same fields afterwards, but for the record of its box.
func (v verb) keepsFields() bool {
	return v == keep || v == record || v == reclaim || v == reject || v == refuse
}

// step is one child and what has to be done about it.
type step struct {
	verb verb
	kind *childKind
	// rendered is what the box asks for; nil to prune.
	rendered *unstructured.Unstructured
	// live is the child as the cache has it; nil to create.
	live child
	// isLive says that it is as the cluster has it, which also tells its managed fields.
	isLive bool
	// difference is how the live child differs from what the box asks for; nil unless to update, record, restore or reject.
	difference *difference
	// refusal is why the live child is not the box's; nil unless to refuse.
	refusal error
	// obstacle is what keeps the live child from becoming the rendered one; empty unless to replace.
	obstacle string
}

// plan says what has to be done so that the live children of the box are the rendered ones. It reads caches only.
func (c *Controller) plan(box *modelv1.ModelBox, rendered []*unstructured.Unstructured) ([]step, error) {
	steps := make([]step, 0, len(rendered))
	for _, kind := range c.kinds {
		asked := map[string]bool{}
		for _, object := range rendered {
			if object.GroupVersionKind() != kind.kind {
				continue
			}
			asked[object.GetName()] = true
			live, err := kind.cached(box.Namespace, object.GetName())
			if err != nil {
				return nil, err
			}
			step, err := c.planOne(box, kind, object, live)
			if err != nil {
				return nil, err
			}
			steps = append(steps, step)
		}
		owned, err := kind.ownedBy(box)
		if err != nil {
			return nil, err
		}
		for _, live := range owned {
			if !asked[live.GetName()] && live.GetDeletionTimestamp() == nil {
				steps = append(steps, step{verb: prune, kind: kind, live: live})
			}
		}
	}
	return steps, nil
}

// planOne compares one rendered child with the live one, which is nil where there is none.
func (c *Controller) planOne(box *modelv1.ModelBox, kind *childKind, rendered *unstructured.Unstructured, live child) (step, error) {
	s := step{kind: kind, rendered: rendered, live: live}
	if live == nil {
		s.verb = create
		return s, nil
	}
	isOurs := isOwnedBy(live, box) || hasLostOwner(box, rendered, live)
	switch {
	case !isOurs && isPredecessors(live, box):
		s.verb, s.obstacle = replace, "it belonged to a box of this name that has been deleted"
		if live.GetDeletionTimestamp() != nil {
			s.verb = wait
		}
		return s, nil
	case !isOurs:
		s.refusal = refusal(box, kind, rendered, live)
		switch {
		case s.refusal != nil:
			s.verb = refuse
		case live.GetDeletionTimestamp() != nil:
			s.verb = wait
		default:
			s.verb = adopt
		}
		return s, nil
	case live.GetDeletionTimestamp() != nil:
		s.verb = wait
		return s, nil
	}
	if s.obstacle = kind.obstacle(rendered, live); s.obstacle != "" {
		s.verb = replace
		return s, nil
	}
	return c.planFields(box, s)
}

// planFields compares the fields of a child that is the box's. What the box last wrote is taken from the annotation
// only as long as that is ours: somebody else may have set it, as kubectl rollout undo does.
func (c *Controller) planFields(box *modelv1.ModelBox, s step) (step, error) {
	var err error
	if s.difference, err = c.compare.compare(s.rendered, s.live); err != nil {
		return s, err
	}
	if fingerprint(s.live) != "" && render.Hash(s.rendered) != render.Hash(s.live) {
		s.verb = update
		return s, nil
	}
	rejected := c.applied.rejected(box, s)
	s.difference.fields = s.difference.fields.Difference(rejected)
	switch {
	case s.difference.fields.Equals(recordFields):
		s.verb = record
		return s, nil
	case !s.difference.isEmpty():
		s.verb = restore
		return s, nil
	case !rejected.Empty():
		s.verb, s.difference.fields = reject, rejected
		return s, nil
	}
	isLost, err := c.hasLostFields(box, s)
	if err != nil {
		return s, err
	}
	s.verb = keep
	if isLost {
		s.verb = reclaim
	}
	return s, nil
}

// hasLostFields returns whether somebody else has taken over fields that the last apply made ours.
func (c *Controller) hasLostFields(box *modelv1.ModelBox, s step) (bool, error) {
	if answer, ok := c.applied.answer(box, s); ok {
		return fingerprint(s.live) != answer.fingerprint, nil
	}
	expected, err := c.compare.ownedFingerprint(s.rendered)
	if err != nil {
		return false, err
	}
	if expected != fingerprint(s.live) {
		return true, nil
	}
	c.applied.remember(box, s, appliedChild{uid: s.live.GetUID(), render: render.Hash(s.rendered), fingerprint: expected})
	return false, nil
}
