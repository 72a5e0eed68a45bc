// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package modelbox

import (
	"fmt"
	"reflect"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/managedfields"
	"k8s.io/client-go/applyconfigurations"
	"k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
)

// difference is how a live child differs from its render.
type difference struct {
	// fields are those that the render asks for and that the live child lacks or has otherwise. Where a whole struct or
	// element is missing, it is that; where the elements of a list are in another order, the list.
	fields *fieldpath.Set
	// conflicting are fields of the live child that the render leaves out and beside which those cannot be, such as the
	// other handler of a probe, each with all that is below it. Apply leaves them where they are, for they are not ours.
	conflicting *fieldpath.Set
	// renamed are elements of the live child that are what a missing one was, under another key.
	renamed *fieldpath.Set
}

func newDifference() *difference {
	return &difference{fields: fieldpath.NewSet(), conflicting: fieldpath.NewSet(), renamed: fieldpath.NewSet()}
}

// isEmpty returns whether the live child is as the render asks for.
func (d *difference) isEmpty() bool { return d.fields.Empty() }

// isInTheWay returns whether something has to be taken out of the live child for it to become as the render asks for.
func (d *difference) isInTheWay() bool { return !d.conflicting.Empty() || !d.renamed.Empty() }

func (d *difference) add(other *difference) {
	d.fields = d.fields.Union(other.fields)
	d.conflicting = d.conflicting.Union(other.conflicting)
	d.renamed = d.renamed.Union(other.renamed)
}

// comparer finds where a live child differs from its render. It knows the types' list keys, but no defaults of
// the API: a field that the render leaves out may have any value, wherever it is.
type comparer struct {
	converter managedfields.TypeConverter
}

func newComparer() *comparer {
	return &comparer{converter: applyconfigurations.NewTypeConverter(scheme.Scheme)}
}

// compare returns how the live child differs from what the render asks for.
func (c *comparer) compare(rendered *unstructured.Unstructured, live child) (*difference, error) {
	want, err := c.converter.ObjectToTyped(rendered)
	if err != nil {
		return nil, fmt.Errorf("reading the fields of the rendered %s: %w", rendered.GetKind(), err)
	}
	have, err := runtime.DefaultUnstructuredConverter.ToUnstructured(live)
	if err != nil {
		return nil, fmt.Errorf("reading the fields of the live %s: %w", rendered.GetKind(), err)
	}
	if err := restoreRecord(have, live, rendered); err != nil {
		return nil, fmt.Errorf("reading the record of the live %s: %w", rendered.GetKind(), err)
	}
	spelledOut, err := throughType(rendered, live)
	if err != nil {
		return nil, err
	}
	found := newDifference()
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
