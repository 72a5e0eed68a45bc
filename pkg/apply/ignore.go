// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package apply

import (
	"slices"

	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/childfields"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/apply/fields"
)

// ignoredPaths returns the paths of the fields that other managers may set on the owner's children of a kind. It leaves out the
// path of a field that this release does not know: no render has the field.
func (p *Planner[O]) ignoredPaths(owner O, kind *Kind) []childfields.Path {
	if p.Ignored == nil {
		return nil
	}
	var paths []childfields.Path
	for _, text := range p.Ignored(owner, kind.Name()) {
		if path, err := childfields.Parse(kind.Name(), text); err == nil {
			paths = append(paths, path)
		}
	}
	return paths
}

// ignoreDrift takes the ignored fields that differ out of a step. They are no reason to write the child, and are not written when
// there is another reason. Only the live child tells which of them the written child must leave out.
func (p *Planner[O]) ignoreDrift(owner O, s Step, isUpdate bool) (Step, error) {
	paths := p.ignoredPaths(owner, s.Kind)
	ignored := covered(s.Difference.Fields, paths)
	if ignored.Empty() {
		return s, nil
	}
	if s.IsLive {
		theirs, ours, err := holders(s.Live, ignored, s.Difference.Conflicting.Union(s.Difference.Renamed))
		if err != nil {
			return s, err
		}
		if isUpdate {
			// No other manager has set the remaining fields. The owner has begun to ask for them.
			ignored = theirs
		}
		// The apply would remove a field that is ours and left out.
		if s.Rendered, err = p.Comparer.Without(s.Rendered, s.Live, ignored.Difference(ours.Difference(theirs))); err != nil {
			return s, err
		}
	}
	leaveOutOf(s.Difference, ignored, paths)
	if !ignored.Empty() {
		s.Ignored = ignored
	}
	return s, nil
}

// holders returns which of the fields of a live child other managers have set, or have set another field in place of, and which are
// ours.
func holders(live Object, of, conflicting *fieldpath.Set) (theirs, ours *fieldpath.Set, err error) {
	theirs, ours = fieldpath.NewSet(), fieldpath.NewSet()
	for manager, fields := range fields.ChangedBy(live, of, conflicting) {
		if manager != "" {
			theirs = theirs.Union(fields)
		}
	}
	owned, err := fields.Owned(live)
	if err != nil {
		return nil, nil, err
	}
	of.Iterate(func(path fieldpath.Path) {
		if fields.HasAny(owned, path) {
			ours.Insert(path.Copy())
		}
	})
	return theirs, ours, nil
}

// leaveOutOf takes fields out of a difference, with what is in the way of them.
func leaveOutOf(difference *fields.Difference, ignored *fieldpath.Set, paths []childfields.Path) {
	difference.Fields = difference.Fields.Difference(ignored)
	difference.Conflicting = difference.Conflicting.Difference(covered(difference.Conflicting, paths))
	difference.Renamed = difference.Renamed.Difference(covered(difference.Renamed, paths))
}

// covered returns the fields of a set that one of the paths covers.
func covered(set *fieldpath.Set, paths []childfields.Path) *fieldpath.Set {
	found := fieldpath.NewSet()
	if len(paths) == 0 {
		return found
	}
	set.Iterate(func(field fieldpath.Path) {
		if slices.ContainsFunc(paths, func(path childfields.Path) bool { return path.Covers(field) }) {
			found.Insert(field.Copy())
		}
	})
	return found
}
