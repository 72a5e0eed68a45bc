// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package modelbox

import (
	"fmt"
	"reflect"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/managedfields"
	"k8s.io/client-go/applyconfigurations"
	"k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/render"
)

// comparer finds where a live child differs from its render. It knows the types' list keys, but no defaults of
// the API: a field that the render leaves out may have any value, wherever it is.
type comparer struct {
	converter managedfields.TypeConverter
}

func newComparer() *comparer {
	return &comparer{converter: applyconfigurations.NewTypeConverter(scheme.Scheme)}
}

// differences returns the fields that the render asks for and that the live child lacks or has with another value.
func (c *comparer) differences(rendered *unstructured.Unstructured, live child) (*fieldpath.Set, error) {
	want, err := c.converter.ObjectToTyped(rendered)
	if err != nil {
		return nil, fmt.Errorf("reading the fields of the rendered %s: %w", rendered.GetKind(), err)
	}
	have, err := runtime.DefaultUnstructuredConverter.ToUnstructured(live)
	if err != nil {
		return nil, fmt.Errorf("reading the fields of the live %s: %w", rendered.GetKind(), err)
	}
	spelledOut, err := throughType(rendered, live)
	if err != nil {
		return nil, err
	}
	found := fieldpath.NewSet()
	for _, walk := range []struct {
		comparison
		fields map[string]any
	}{
		{comparison{schema: want.Schema(), found: found, zeroIsAbsent: true}, rendered.Object},
		{comparison{schema: want.Schema(), found: found}, spelledOut},
	} {
		for name, value := range walk.fields {
			if name != "apiVersion" && name != "kind" && name != "status" {
				walk.visit(fieldpath.MakePathOrDie(name), fieldOf(walk.resolve(want.TypeRef()), name), value, have[name])
			}
		}
	}
	return found, nil
}

// throughType returns the render as the live object's Go type encodes it. Of the zeros that the render spells out it
// keeps those that differ from nothing at all, such as an automountServiceAccountToken that is false.
func throughType(rendered *unstructured.Unstructured, live child) (map[string]any, error) {
	typed := reflect.New(reflect.TypeOf(live).Elem()).Interface()
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(rendered.Object, typed); err != nil {
		return nil, fmt.Errorf("reading the rendered %s: %w", rendered.GetKind(), err)
	}
	fields, err := runtime.DefaultUnstructuredConverter.ToUnstructured(typed)
	if err != nil {
		return nil, fmt.Errorf("reading the fields of the rendered %s: %w", rendered.GetKind(), err)
	}
	return fields, nil
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
		if writer == nil || entry.Time != nil && (writer.Time == nil || writer.Time.Before(entry.Time)) {
			writer = entry
		}
	}
	if writer == nil {
		return ""
	}
	return writer.Manager
}
