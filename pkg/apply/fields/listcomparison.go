// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package fields

import (
	"maps"
	"slices"

	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
	"sigs.k8s.io/structured-merge-diff/v6/schema"
	"sigs.k8s.io/structured-merge-diff/v6/value"
)

// visitList matches elements by the keys of the list. The other elements of the live list belong to other managers, unless one has
// the place of an element that is missing. An element that is there twice differs, because the API keeps both and the last one
// counts. A list of fields whose elements are in another order differs as well, because the meaning of variables depends on their
// order.
func (c *comparison) visitList(path fieldpath.Path, atom schema.Atom, want, live []any) {
	places := c.placesOf(atom, live)
	var missing []any
	last, isOrdered := -1, true
	for _, element := range want {
		step := c.elementOf(atom, element)
		at, isThere := places.first.Get(step)
		switch {
		case !isThere:
			missing = append(missing, element)
			c.found.Fields.Insert(append(path, step))
		case has(places.again, step):
			c.found.Fields.Insert(append(path, step))
		default:
			at := at.(int)
			c.visit(append(path, step), atom.List.ElementType, element, live[at])
			isOrdered, last = isOrdered && at > last, at
		}
	}
	if !isOrdered && len(atom.List.Keys) > 0 {
		c.found.Fields.Insert(path)
	}
	if len(missing) > 0 {
		c.visitForeigners(path, atom, want, missing, live)
	}
}

// visitForeigners finds out which elements that the render does not have are in the way of one of those that are
// missing: because it is that element under another key, or because it has what only one element may have.
func (c *comparison) visitForeigners(path fieldpath.Path, atom schema.Atom, want, missing, live []any) {
	wanted := c.placesOf(atom, want).first
	places := make([]any, len(missing))
	for i, element := range missing {
		places[i], _ = wanted.Get(c.elementOf(atom, element))
	}
	isShort := len(missing)*len(live) <= maxRenamedPairs
	for i, element := range live {
		fields, isMap := element.(map[string]any)
		step := c.elementOf(atom, element)
		if !isMap || has(wanted, step) {
			continue
		}
		for j, element := range missing {
			wantedFields, _ := element.(map[string]any)
			isInItsPlace := len(live) == len(want) && places[j] == i
			switch {
			case c.hasSameUniqueField(atom, wantedFields, fields):
				c.found.Conflicting.Insert(append(path, step))
			case (isShort || isInItsPlace) && c.isRenamed(path, atom, wantedFields, fields, isInItsPlace):
				c.found.Renamed.Insert(append(path, step))
			}
		}
	}
}

// maxRenamedPairs is how many pairs of elements of a list are looked at to find those that are the same under another
// key. In a longer list it is only those that are in the same place.
const maxRenamedPairs = 1 << 12

// isRenamed returns whether the live element has everything that is wanted but for the keys. Where keys are all that is
// wanted, it has to have one of them, or to be in the place of the one that is missing. A container in that place may have
// been changed besides: it is still the application, under another name.
func (c *comparison) isRenamed(path fieldpath.Path, atom schema.Atom, want, live map[string]any, isInItsPlace bool) bool {
	rest := maps.Clone(want)
	hasKey := false
	for _, key := range atom.List.Keys {
		delete(rest, key)
		hasKey = hasKey || c.isSameScalar(want[key], live[key])
	}
	if len(rest) == 0 {
		return hasKey || isInItsPlace
	}
	if isInItsPlace && isContainer(atom.List.ElementType) {
		return true
	}
	inside := c.inside()
	inside.visitMap(path, c.resolve(atom.List.ElementType), rest, live)
	return inside.found.IsEmpty()
}

func isContainer(ref schema.TypeRef) bool {
	return ref.NamedType != nil && *ref.NamedType == "io.k8s.api.core.v1.Container"
}

// places are the indices of the elements of a list by what identifies them.
type places struct {
	// first has the index of the first element of each identity. again has the identities that several elements have.
	first, again fieldpath.PathElementMap
}

func (c *comparison) placesOf(atom schema.Atom, list []any) places {
	p := places{first: fieldpath.MakePathElementMap(len(list))}
	for i, element := range list {
		step := c.elementOf(atom, element)
		if has(p.first, step) {
			p.again.Insert(step, nil)
			continue
		}
		p.first.Insert(step, i)
	}
	return p
}

// elementOf returns what identifies an element of an associative list: the values of its keys, or in a set its own.
func (c *comparison) elementOf(atom schema.Atom, element any) fieldpath.PathElement {
	fields, isMap := element.(map[string]any)
	if len(atom.List.Keys) == 0 || !isMap {
		own := value.NewValueInterface(element)
		return fieldpath.PathElement{Value: &own}
	}
	elementAtom := c.resolve(atom.List.ElementType)
	keys := make(value.FieldList, 0, len(atom.List.Keys))
	for _, name := range atom.List.Keys {
		key, ok := fields[name]
		if !ok && elementAtom.Map != nil {
			field, _ := elementAtom.Map.FindField(name)
			key = field.Default
		}
		keys = append(keys, value.Field{Name: name, Value: value.NewValueInterface(key)})
	}
	keys.Sort()
	return fieldpath.PathElement{Key: &keys}
}

// hasSameUniqueField returns whether the elements share the value of a field that the API wants to be different in
// every element, although it is no key. A name that is left out is such a value as well.
func (c *comparison) hasSameUniqueField(atom schema.Atom, want, live map[string]any) bool {
	if atom.List.ElementType.NamedType == nil {
		return false
	}
	return slices.ContainsFunc(uniqueFields[*atom.List.ElementType.NamedType], func(field uniqueField) bool {
		wanted, isWanted := want[field.name]
		is, isThere := live[field.name]
		if !isWanted || !isThere {
			return isWanted == isThere && field.isRequired
		}
		return value.Equals(value.NewValueInterface(wanted), value.NewValueInterface(is))
	})
}

// uniqueField is a field of list elements that is different in each of them.
type uniqueField struct {
	name string
	// isRequired says that only one element may leave it out.
	isRequired bool
}

// uniqueFields are those that are no keys, by the type of the elements.
var uniqueFields = map[string][]uniqueField{
	"io.k8s.api.core.v1.ServicePort":                      {{name: "name", isRequired: true}, {name: "nodePort"}},
	"io.k8s.api.core.v1.ContainerPort":                    {{name: "name"}},
	"io.k8s.apimachinery.pkg.apis.meta.v1.OwnerReference": {{name: "controller"}},
}

func has(set fieldpath.PathElementMap, element fieldpath.PathElement) bool {
	_, ok := set.Get(element)
	return ok
}
