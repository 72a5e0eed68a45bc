// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package boxdiff

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/childfields"
	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/apply/fields"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/render"
	modelboxrender "github.com/sharelinuxs/modelbox-apiserver/pkg/render/modelbox"
)

// bookkeeping are fields that only record for the server what it has written. They mean nothing to users.
var bookkeeping = fieldpath.NewSet(
	fieldpath.MakePathOrDie("metadata", "annotations", modelv1.RecordAnnotation),
	fieldpath.MakePathOrDie("metadata", "annotations", modelv1.RenderHashAnnotation),
	fieldpath.MakePathOrDie("metadata", "annotations", modelv1.StableRecordAnnotation),
	fieldpath.MakePathOrDie("metadata", "annotations", modelv1.RolledBackAnnotation),
)

// differingFields returns the fields of a live child that are not as rendered, sorted by their paths.
func (d *Differ) differingFields(box *modelv1.ModelBox, rendered *unstructured.Unstructured, live fields.Object) ([]modelv1.ModelBoxFieldDiff, error) {
	difference, err := d.compare.Compare(rendered, live)
	if err != nil {
		return nil, err
	}
	ours, err := fields.Owned(live)
	if err != nil {
		return nil, err
	}
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(live)
	if err != nil {
		return nil, fmt.Errorf("reading the fields of %s %s: %w", rendered.GetKind(), rendered.GetName(), err)
	}
	inTheWay := difference.Conflicting.Union(difference.Renamed)
	givenUp, err := d.givenUp(rendered, live, ours)
	if err != nil {
		return nil, err
	}
	removed := fieldpath.NewSet()
	inTheWay.Union(givenUp).Iterate(func(path fieldpath.Path) {
		if _, isThere := valueAt(content, path); isThere {
			removed.Insert(path.Copy())
		}
	})
	differing := difference.Fields.Union(removed).Difference(bookkeeping)
	ignored := ignoredPaths(box, rendered.GetKind())
	isUpdate := fields.Fingerprint(live) != "" && render.Hash(rendered) != render.Hash(live)

	var diffs []modelv1.ModelBoxFieldDiff
	for manager, changed := range fields.ChangedBy(live, differing, inTheWay) {
		changed.Iterate(func(path fieldpath.Path) {
			diff := modelv1.ModelBoxFieldDiff{Path: strings.TrimPrefix(path.String(), "."), Manager: manager, Live: encodedAt(content, path)}
			if !removed.Has(path) {
				diff.Wanted = encodedAt(rendered.Object, path)
			}
			if diff.Manager == "" && diff.Live != "" && fields.HasAny(ours, path) {
				diff.Manager = render.FieldManager
			}
			// No other manager has set a field that the box asks for only now, so the controller does not ignore it.
			isTheirs := manager != "" || !isUpdate
			diff.Ignored = isTheirs && slices.ContainsFunc(ignored, func(of childfields.Path) bool { return of.Covers(path) })
			diffs = append(diffs, diff)
		})
	}
	slices.SortFunc(diffs, func(a, b modelv1.ModelBoxFieldDiff) int { return cmp.Compare(a.Path, b.Path) })
	return diffs, nil
}

// givenUp returns the fields that the box asked for before and no longer asks for. The controller removes them. It does not return
// fields that another field manager has set.
func (d *Differ) givenUp(rendered *unstructured.Unstructured, live fields.Object, ours *fieldpath.Set) (*fieldpath.Set, error) {
	wanted, err := d.compare.OwnedFields(rendered)
	if err != nil {
		return nil, err
	}
	all := fieldpath.NewSet()
	ours.Difference(wanted).Leaves().Iterate(func(path fieldpath.Path) {
		if !fields.HasAny(wanted, path) {
			all.Insert(path.Copy())
		}
	})
	for i, entry := range live.GetManagedFields() {
		if fields.IsOurs(&live.GetManagedFields()[i]) || entry.FieldsV1 == nil {
			continue
		}
		theirs, err := fields.Decode(&entry)
		if err != nil {
			return nil, err
		}
		all = all.Difference(theirs)
	}
	return all, nil
}

// ignoredPaths returns the paths of the fields that others may have of the children of a kind. One of a field that this release
// does not know is left out: no render has it.
func ignoredPaths(box *modelv1.ModelBox, kind string) []childfields.Path {
	var paths []childfields.Path
	for _, text := range modelboxrender.IgnoredFields(box, kind) {
		if path, err := childfields.Parse(kind, text); err == nil {
			paths = append(paths, path)
		}
	}
	return paths
}
