// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package fields

import (
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/render"
)

// ChangedBy returns the managers that set fields of a live object, each with the fields that it set. The empty name has the fields
// that no manager has, for example because they were removed. If several managers have a field, the most recent one counts.
func ChangedBy(live metav1.Object, fields, conflicting *fieldpath.Set) map[string]*fieldpath.Set {
	entries := slices.Clone(live.GetManagedFields())
	slices.SortStableFunc(entries, func(a, b metav1.ManagedFieldsEntry) int {
		if a.Time == nil || b.Time == nil {
			return 0
		}
		return b.Time.Compare(a.Time.Time)
	})
	byManager, rest := map[string]*fieldpath.Set{}, fields
	for i := range entries {
		entry := &entries[i]
		if entry.Manager == render.FieldManager || entry.FieldsV1 == nil || rest.Empty() {
			continue
		}
		managed, err := Decode(entry)
		if err != nil {
			continue
		}
		theirs := touched(rest, managed, conflicting)
		if theirs.Empty() {
			continue
		}
		if byManager[entry.Manager] == nil {
			byManager[entry.Manager] = fieldpath.NewSet()
		}
		byManager[entry.Manager] = byManager[entry.Manager].Union(theirs)
		rest = rest.Difference(theirs)
	}
	if !rest.Empty() {
		byManager[""] = rest
	}
	return byManager
}

// touched returns the fields that the manager has a part of: the field itself, a field below it, or a field in conflict with it.
func touched(fields, managed, conflicting *fieldpath.Set) *fieldpath.Set {
	found := fieldpath.NewSet()
	fields.Iterate(func(path fieldpath.Path) {
		if HasAny(managed, path) || conflictsWith(managed, path, conflicting) {
			found.Insert(path.Copy())
		}
	})
	return found
}

// HasAny returns whether a set has the field of a path or a field below it.
func HasAny(set *fieldpath.Set, path fieldpath.Path) bool {
	if set.Has(path) {
		return true
	}
	for _, step := range path {
		set = set.WithPrefix(step)
	}
	return !set.Empty()
}

// conflictsWith returns whether the manager has one of the conflicting fields that are in the same struct or list as the
// path, or in one that this is in.
func conflictsWith(managed *fieldpath.Set, path fieldpath.Path, conflicting *fieldpath.Set) bool {
	found := false
	conflicting.Iterate(func(other fieldpath.Path) {
		parent := other[:len(other)-1]
		if len(path) >= len(parent) && path[:len(parent)].Equals(parent) && HasAny(managed, other) {
			found = true
		}
	})
	return found
}
