// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

// Package fields compares a live object with what is rendered for it, field by field, and knows whose each field is. It
// knows the schemas of types and the managed fields of server-side apply, and no client.
package fields

import (
	"fmt"
	"reflect"
	"strings"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/managedfields"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
	"sigs.k8s.io/structured-merge-diff/v6/typed"
)

// Object is an object as the API has it.
type Object interface {
	metav1.Object
	runtime.Object
}

// Difference is how a live object differs from its render.
type Difference struct {
	// Fields are those that the render asks for and that the live object lacks or has otherwise. Where a whole struct or
	// element is missing, it is that; where the elements of a list are in another order, the list.
	Fields *fieldpath.Set
	// Conflicting are fields of the live object that the render leaves out and beside which those cannot be, such as the
	// other handler of a probe, each with all that is below it. Apply leaves them where they are, for they are not ours.
	Conflicting *fieldpath.Set
	// Renamed are elements of the live object that are what a missing one was, under another key.
	Renamed *fieldpath.Set
}

func newDifference() *Difference {
	return &Difference{Fields: fieldpath.NewSet(), Conflicting: fieldpath.NewSet(), Renamed: fieldpath.NewSet()}
}

// IsEmpty returns whether the live object is as the render asks for.
func (d *Difference) IsEmpty() bool { return d.Fields.Empty() }

// IsObstructed returns whether fields have to be taken out of the live object before it can become as the render asks for.
func (d *Difference) IsObstructed() bool { return !d.Conflicting.Empty() || !d.Renamed.Empty() }

func (d *Difference) add(other *Difference) {
	d.Fields = d.Fields.Union(other.Fields)
	d.Conflicting = d.Conflicting.Union(other.Conflicting)
	d.Renamed = d.Renamed.Union(other.Renamed)
}

// Comparer finds where a live object differs from its render. It knows the types' list keys, but no defaults of
// the API: a field that the render leaves out may have any value, wherever it is.
type Comparer struct {
	converter managedfields.TypeConverter
	schemas   sync.Map // GroupVersionKind to kindSchema
}

// NewComparer returns a Comparer of the types that the converter has the schema of.
func NewComparer(converter managedfields.TypeConverter) *Comparer {
	return &Comparer{converter: converter}
}

// Compare returns how the live object differs from what the render asks for.
func (c *Comparer) Compare(rendered *unstructured.Unstructured, live Object) (*Difference, error) {
	kind, err := c.schemaOf(rendered)
	if err != nil {
		return nil, err
	}
	if isAsRendered, err := (fastPath{kind.schema}).isAsRendered(kind.root, rendered, live); err != nil {
		return nil, err
	} else if isAsRendered {
		return newDifference(), nil
	}
	return c.find(rendered, live)
}

// find walks over all fields of both.
func (c *Comparer) find(rendered *unstructured.Unstructured, live Object) (*Difference, error) {
	want, err := c.toTyped(rendered)
	if err != nil {
		return nil, err
	}
	have, err := runtime.DefaultUnstructuredConverter.ToUnstructured(live)
	if err != nil {
		return nil, fmt.Errorf("reading the fields of the live %s: %w", rendered.GetKind(), err)
	}
	spelledOut, err := roundTrip(rendered, live)
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
			if isCompared(name) {
				walk.visit(fieldpath.MakePathOrDie(name), fieldOf(walk.resolve(want.TypeRef()), name), value, have[name])
			}
		}
	}
	return found, nil
}

// toTyped returns an error for a render that its schema does not allow.
func (c *Comparer) toTyped(rendered *unstructured.Unstructured) (*typed.TypedValue, error) {
	value, err := c.converter.ObjectToTyped(rendered)
	if err != nil {
		return nil, fmt.Errorf("reading the fields of the rendered %s: %w", rendered.GetKind(), err)
	}
	return value, nil
}

// isCompared returns whether the field of that name of an object is one that a render asks for.
func isCompared(name string) bool { return name != "apiVersion" && name != "kind" && name != "status" }

// roundTrip returns the render as the live object's Go type encodes it. Of the zeros that the render spells out it
// keeps those that differ from nothing at all, such as an automountServiceAccountToken that is false.
func roundTrip(rendered *unstructured.Unstructured, live Object) (map[string]any, error) {
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

// maxNamedFields is how many fields Names names.
const maxNamedFields = 3

// Names lists the fields of a set for a message, the first few of them.
func Names(fields *fieldpath.Set) string {
	var names []string
	fields.Leaves().Iterate(func(path fieldpath.Path) { names = append(names, strings.TrimPrefix(path.String(), ".")) })
	if len(names) > maxNamedFields {
		names = append(names[:maxNamedFields], "…")
	}
	return strings.Join(names, ", ")
}
