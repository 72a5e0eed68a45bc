// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package modelbox

import (
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/managedfields"
	"k8s.io/client-go/applyconfigurations"
	"k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/render"
)

// comparer finds where a live child differs from its render. It knows the types' list keys, but no defaults of
// the API: a field that the render leaves out may have any value.
type comparer struct {
	converter managedfields.TypeConverter
}

func newComparer() *comparer {
	return &comparer{converter: applyconfigurations.NewTypeConverter(scheme.Scheme)}
}

// differences returns the fields that the render asks for and that the live child lacks or has with another
// value. live has to carry its kind. It asks the question that server-side apply asks: would merging the render into the live object change it?
func (c *comparer) differences(rendered *unstructured.Unstructured, live child) (*fieldpath.Set, error) {
	have, err := c.converter.ObjectToTyped(live)
	if err != nil {
		return nil, fmt.Errorf("reading the fields of the live %s: %w", rendered.GetKind(), err)
	}
	want, err := c.converter.ObjectToTyped(rendered)
	if err != nil {
		return nil, fmt.Errorf("reading the fields of the rendered %s: %w", rendered.GetKind(), err)
	}
	merged, err := have.Merge(want)
	if err != nil {
		return nil, fmt.Errorf("merging the rendered %s into the live one: %w", rendered.GetKind(), err)
	}
	comparison, err := have.Compare(merged)
	if err != nil {
		return nil, fmt.Errorf("comparing the live %s with the rendered one: %w", rendered.GetKind(), err)
	}
	return comparison.Added.Union(comparison.Modified).Union(comparison.Removed), nil
}

// isSameRender returns whether the live child was last written from this very render.
func isSameRender(rendered *unstructured.Unstructured, live child) bool {
	return render.Hash(rendered) == render.Hash(live)
}

// lastWriter returns the field manager, other than ourselves, that set one of the fields, and the most recent one
// where there are several. Empty when no manager has them, as when a field was removed.
func lastWriter(live metav1.Object, fields *fieldpath.Set) string {
	var writer *metav1.ManagedFieldsEntry
	entries := live.GetManagedFields()
	for i := range entries {
		entry := &entries[i]
		if entry.Manager == render.ManagedBy || entry.FieldsV1 == nil {
			continue
		}
		managed := &fieldpath.Set{}
		if err := managed.FromJSON(entry.FieldsV1.GetRawReader()); err != nil || managed.Intersection(fields).Empty() {
			continue
		}
		if writer == nil || entry.Time != nil && writer.Time.Before(entry.Time) {
			writer = entry
		}
	}
	if writer == nil {
		return ""
	}
	return writer.Manager
}
