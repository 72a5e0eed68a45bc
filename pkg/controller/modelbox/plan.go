// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package modelbox

import (
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
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

// step is one child and what has to be done about it.
type step struct {
	verb verb
	kind *childKind
	// rendered is what the box asks for; nil to prune.
	rendered *unstructured.Unstructured
	// live is the child as the cache has it; nil to create.
	live child
	// differences are the fields to restore.
	differences *fieldpath.Set
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
	switch {
	case live == nil:
		s.verb = create
		return s, nil
	case isPredecessors(live, box):
		s.verb, s.obstacle = replace, "it belonged to a box of this name that has been deleted"
		if live.GetDeletionTimestamp() != nil {
			s.verb = wait
		}
		return s, nil
	case !isOwnedBy(live, box):
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
	case !isSameRender(rendered, live):
		s.verb, s.obstacle = update, kind.obstacle(rendered, live)
		if s.obstacle != "" {
			s.verb = replace
		}
		return s, nil
	}
	differences, err := c.compare.differences(rendered, live)
	if err != nil {
		return s, err
	}
	s.verb, s.differences = keep, differences
	if !differences.Empty() {
		s.verb = restore
	}
	return s, nil
}
