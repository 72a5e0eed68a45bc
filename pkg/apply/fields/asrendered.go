// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package fields

import (
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/structured-merge-diff/v6/schema"
	"sigs.k8s.io/structured-merge-diff/v6/value"
)

// fastPath finds out whether a live object is as rendered, which it nearly always is, at a fraction of the cost of a comparison. It
// reads only the fields of the live object that the render asks for, does not copy the object, and writes nothing down. If fastPath
// calls an object as rendered, a comparison finds no difference. If an object needs a second look, fastPath says no.
type fastPath struct{ schema *schema.Schema }

// isAsRendered returns whether the live object has all that the render asks for.
func (f fastPath) isAsRendered(root schema.TypeRef, rendered *unstructured.Unstructured, live Object) (bool, error) {
	have, err := valueOf(live)
	if err != nil {
		return false, fmt.Errorf("reading the live %s: %w", rendered.GetKind(), err)
	}
	atom, fields := resolve(f.schema, root), have.AsMap()
	for name, want := range rendered.Object {
		if !isCompared(name) {
			continue
		}
		if value, _ := fields.Get(name); !f.has(fieldOf(atom, name), want, value) {
			return false, nil
		}
	}
	return true, nil
}

func valueOf(object Object) (value.Value, error) {
	if object, isUnstructured := object.(*unstructured.Unstructured); isUnstructured {
		return value.NewValueInterface(object.Object), nil
	}
	return value.NewValueReflect(object)
}

// has returns whether the live value, nil for none, is at first sight as wanted.
func (f fastPath) has(ref schema.TypeRef, want any, live value.Value) bool {
	if want == nil {
		return true
	}
	if live == nil || live.IsNull() {
		return false
	}
	switch want := want.(type) {
	case map[string]any:
		return live.IsMap() && f.hasFields(ref, want, live.AsMap())
	case []any:
		return live.IsList() && f.hasElements(resolve(f.schema, ref), want, live.AsList())
	default:
		return value.Equals(value.NewValueInterface(want), live)
	}
}

func (f fastPath) hasFields(ref schema.TypeRef, want map[string]any, live value.Map) bool {
	atom := resolve(f.schema, ref)
	if isAtomic(atom) && !isStruct(atom) && len(want) != live.Length() {
		return false
	}
	for name, want := range want {
		if value, _ := live.Get(name); !f.has(fieldOf(atom, name), want, value) {
			return false
		}
	}
	if ref.NamedType == nil {
		return true
	}
	for name, implied := range impliedValues[*ref.NamedType] {
		if _, isWanted := want[name]; isWanted {
			continue
		}
		if value, isThere := live.Get(name); isThere && !f.has(fieldOf(atom, name), implied, value) {
			return false
		}
	}
	return true
}

// impliedValues are those that a render asks for by leaving a field out although it is not empty, by the names of the schema and
// of the field: what render.Convert leaves out.
var impliedValues = map[string]map[string]any{
	"io.k8s.api.core.v1.ResourceFieldSelector": {"divisor": "0"},
}

// hasElements takes no other order, and no element more: whose that is, and what it is in the way of, takes a second look. So
// does what an element of a list that has one owner has beyond what is wanted.
func (f fastPath) hasElements(atom schema.Atom, want []any, live value.List) bool {
	if len(want) != live.Length() {
		return false
	}
	for i, want := range want {
		if isAtomic(atom) && !value.Equals(value.NewValueInterface(want), live.At(i)) || !f.has(elementType(atom), want, live.At(i)) {
			return false
		}
	}
	return true
}

// kindSchema is the schema of one kind.
type kindSchema struct {
	schema *schema.Schema
	root   schema.TypeRef
}

// schemaOf returns the schema of the kind of what is rendered, which is made once.
func (c *Comparer) schemaOf(rendered *unstructured.Unstructured) (kindSchema, error) {
	kind := rendered.GroupVersionKind()
	if known, ok := c.schemas.Load(kind); ok {
		return known.(kindSchema), nil
	}
	typed, err := c.toTyped(rendered)
	if err != nil {
		return kindSchema{}, err
	}
	known := kindSchema{typed.Schema(), typed.TypeRef()}
	c.schemas.Store(kind, known)
	return known, nil
}
