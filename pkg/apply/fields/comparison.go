// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package fields

import (
	"cmp"
	"reflect"

	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
	"sigs.k8s.io/structured-merge-diff/v6/schema"
	"sigs.k8s.io/structured-merge-diff/v6/value"
)

// comparison is one walk over the fields of a render, side by side with the fields of the live object.
//
// Merging the render into the live object, as server-side apply does, would not answer the question: an atomic struct, such as the
// fieldRef of a variable, is merged as a whole, and the fields that the API has added to it would count as a difference forever.
type comparison struct {
	schema *schema.Schema
	found  *Difference
	// zeroIsAbsent takes a zero that is wanted for a field that the live object may leave out.
	zeroIsAbsent bool
}

// inside returns a comparison of the same kind that finds on its own.
func (c *comparison) inside() *comparison {
	return &comparison{schema: c.schema, found: newDifference(), zeroIsAbsent: c.zeroIsAbsent}
}

// visit adds the path, or what is below it, when the live value is not what the render wants. The paths of a walk share
// their memory: what is found keeps elements, and no path.
func (c *comparison) visit(path fieldpath.Path, ref schema.TypeRef, want, live any) {
	atom := c.resolve(ref)
	switch want := want.(type) {
	case map[string]any:
		live, isThere := live.(map[string]any)
		switch {
		case isAtomic(atom):
			c.visitAtomicMap(path, atom, want, live, isThere)
		case !isThere:
			c.visitMissing(path, atom, want)
		case isUnion(ref):
			c.visitUnion(path, atom, want, live)
		default:
			c.visitMap(path, atom, want, live)
		}
	case []any:
		live, _ := live.([]any)
		if isAtomic(atom) {
			c.visitAtomicList(path, atom, want, live)
			return
		}
		c.visitList(path, atom, want, live)
	default:
		if !c.isSameScalar(want, live) {
			c.found.Fields.Insert(path)
		}
	}
}

func (c *comparison) visitMap(path fieldpath.Path, atom schema.Atom, want, live map[string]any) {
	for name, value := range want {
		c.visit(append(path, fieldpath.PathElement{FieldName: &name}), fieldOf(atom, name), value, live[name])
	}
}

// visitMissing adds the path itself, unless what is wanted is the same as nothing.
func (c *comparison) visitMissing(path fieldpath.Path, atom schema.Atom, want map[string]any) {
	inside := c.inside()
	inside.visitMap(path, atom, want, nil)
	if !inside.found.IsEmpty() || len(want) == 0 && isStruct(atom) {
		c.found.Fields.Insert(path)
	}
}

// visitAtomicMap adds the path itself when anything below it differs. The API may have completed a struct, but a map of names to
// values has to be exactly the same.
func (c *comparison) visitAtomicMap(path fieldpath.Path, atom schema.Atom, want, live map[string]any, isThere bool) {
	if !isThere {
		c.visitMissing(path, atom, want)
		return
	}
	inside := c.inside()
	inside.visitMap(path, atom, want, live)
	if !inside.found.IsEmpty() || !isStruct(atom) && len(want) != len(live) {
		c.found.Fields.Insert(path)
	}
}

// visitAtomicList adds the path itself unless the lists match element by element.
func (c *comparison) visitAtomicList(path fieldpath.Path, atom schema.Atom, want, live []any) {
	isSame := len(want) == len(live)
	for i := 0; isSame && i < len(want); i++ {
		inside := c.inside()
		inside.visit(path, elementType(atom), want[i], live[i])
		isSame = inside.found.IsEmpty() && !hasAddition(elementType(atom), want[i], live[i])
	}
	if !isSame {
		c.found.Fields.Insert(path)
	}
}

func (c *comparison) resolve(ref schema.TypeRef) schema.Atom { return resolve(c.schema, ref) }

// resolve returns an empty atom for a type that the schema does not know. A value of such a type is compared as a whole.
func resolve(types *schema.Schema, ref schema.TypeRef) schema.Atom {
	atom, _ := types.Resolve(ref)
	return atom
}

func fieldOf(atom schema.Atom, name string) schema.TypeRef {
	if atom.Map == nil {
		return schema.TypeRef{}
	}
	if field, ok := atom.Map.FindField(name); ok {
		return field.Type
	}
	return atom.Map.ElementType
}

func elementType(atom schema.Atom) schema.TypeRef {
	if atom.List == nil {
		return schema.TypeRef{}
	}
	return atom.List.ElementType
}

func isStruct(atom schema.Atom) bool { return atom.Map != nil && len(atom.Map.Fields) > 0 }

// isAtomic returns whether the value has one owner, for server-side apply, and is compared as a whole. Lists are by
// default, maps are not.
func isAtomic(atom schema.Atom) bool {
	switch {
	case atom.Map != nil:
		return atom.Map.ElementRelationship == schema.Atomic
	case atom.List != nil:
		return cmp.Or(atom.List.ElementRelationship, schema.Atomic) == schema.Atomic
	default:
		return true
	}
}

// isSameScalar compares values as JSON knows them. Nothing wanted is the same as anything.
func (c *comparison) isSameScalar(want, live any) bool {
	switch {
	case want == nil:
		return true
	case live == nil:
		return c.zeroIsAbsent && reflect.ValueOf(want).IsZero()
	default:
		return value.Equals(value.NewValueInterface(want), value.NewValueInterface(live))
	}
}
