// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package modelbox

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/apply"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/apply/fields"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/render"
)

// bookkeeping are fields that only record for the server what it has written. They mean nothing to users.
var bookkeeping = fieldpath.NewSet(
	fieldpath.MakePathOrDie("metadata", "annotations", modelv1.RecordAnnotation),
	fieldpath.MakePathOrDie("metadata", "annotations", modelv1.RenderHashAnnotation),
	fieldpath.MakePathOrDie("metadata", "annotations", modelv1.StableRecordAnnotation),
	fieldpath.MakePathOrDie("metadata", "annotations", modelv1.RolledBackAnnotation),
	fieldpath.MakePathOrDie("metadata", "annotations", modelv1.RolloutStepAnnotation),
	fieldpath.MakePathOrDie("metadata", "annotations", modelv1.AwaitedJobAnnotation),
	fieldpath.MakePathOrDie("spec", "template", "metadata", "annotations", modelv1.JobTemplateHashAnnotation),
)

// differingFields returns the fields of the live child that are not as the box has rendered them, sorted by their paths.
func (d *Differ) differingFields(rendered *unstructured.Unstructured, s apply.Step) ([]modelv1.ModelBoxFieldDiff, error) {
	difference, err := d.planner.Compare(rendered, s.Live)
	if err != nil {
		return nil, err
	}
	ours, err := fields.Owned(s.Live)
	if err != nil {
		return nil, err
	}
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(s.Live)
	if err != nil {
		return nil, fmt.Errorf("reading the fields of %s %s: %w", rendered.GetKind(), rendered.GetName(), err)
	}
	inTheWay := difference.Conflicting.Union(difference.Renamed)
	givenUp, err := d.givenUp(rendered, s, ours)
	if err != nil {
		return nil, err
	}
	removed := fieldpath.NewSet()
	inTheWay.Union(givenUp).Iterate(func(path fieldpath.Path) {
		if _, isThere := valueAt(content, path); isThere {
			removed.Insert(path.Copy())
		}
	})
	differing := eachAnnotation(difference.Fields, rendered).Union(removed).Difference(bookkeeping)
	ignored := fieldpath.NewSet()
	if s.Difference != nil {
		// The plan has left out what other managers may have.
		ignored = eachAnnotation(difference.Fields, rendered).Union(inTheWay).Difference(eachAnnotation(s.Difference.Fields, rendered).Union(s.Difference.Conflicting).Union(s.Difference.Renamed))
	}

	var diffs []modelv1.ModelBoxFieldDiff
	for manager, changed := range fields.ChangedBy(s.Live, differing, inTheWay) {
		changed.Iterate(func(path fieldpath.Path) {
			diff := modelv1.ModelBoxFieldDiff{Path: strings.TrimPrefix(path.String(), "."), Manager: manager, Live: encodedAt(content, path), Ignored: ignored.Has(path)}
			if !removed.Has(path) {
				diff.Wanted = encodedAt(rendered.Object, path)
			}
			if diff.Manager == "" && diff.Live != "" && fields.HasAny(ours, path) {
				diff.Manager = render.FieldManager
			}
			diffs = append(diffs, diff)
		})
	}
	slices.SortFunc(diffs, func(a, b modelv1.ModelBoxFieldDiff) int { return cmp.Compare(a.Path, b.Path) })
	return diffs, nil
}

var annotations = fieldpath.MakePathOrDie("metadata", "annotations")

// eachAnnotation returns the fields with all rendered annotations in place of the struct that they are in. The struct differs if a
// live child has no annotations at all.
func eachAnnotation(of *fieldpath.Set, rendered *unstructured.Unstructured) *fieldpath.Set {
	if !of.Has(annotations) {
		return of
	}
	each := of.Difference(fieldpath.NewSet(annotations))
	for name := range rendered.GetAnnotations() {
		each.Insert(append(annotations.Copy(), fieldpath.PathElement{FieldName: &name}))
	}
	return each
}

// givenUp returns the fields that the box asked for before and no longer asks for. An apply removes them. It does not return fields
// that another field manager has set, nor those that are handed over to one.
func (d *Differ) givenUp(rendered *unstructured.Unstructured, s apply.Step, ours *fieldpath.Set) (*fieldpath.Set, error) {
	all := fieldpath.NewSet()
	if s.Operation == apply.Keep || s.Operation == apply.Reclaim {
		return all, nil // nothing is applied
	}
	wanted, err := d.planner.Comparer.OwnedFields(rendered)
	if err != nil {
		return nil, err
	}
	ours.Difference(wanted).Leaves().Iterate(func(path fieldpath.Path) {
		if !fields.HasAny(wanted, path) {
			all.Insert(path.Copy())
		}
	})
	if s.Kind.HandOver != nil {
		kept, err := s.Kind.HandOver(rendered, s.Live)
		if err != nil {
			return nil, err
		}
		if kept != nil {
			handedOver, err := d.planner.Comparer.OwnedFields(kept)
			if err != nil {
				return nil, err
			}
			all = all.Difference(handedOver)
		}
	}
	for i, entry := range s.Live.GetManagedFields() {
		if fields.IsOurs(&s.Live.GetManagedFields()[i]) || entry.FieldsV1 == nil {
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
