// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package fuzzer

import (
	"maps"
	"slices"
)

// tree is a decoded JSON document that can be changed anywhere.
type tree struct {
	parent *tree
	// name is the field that this is of its parent; empty for an element of a list.
	name string
	// path names the place without saying which element of a list it is in: "spec.ports[].port".
	path   string
	fields map[string]*tree
	items  []*tree
	isList bool
	// scalar is what this is unless it is a struct or a list.
	scalar any
}

func newTree(document any) *tree {
	root := &tree{}
	root.become(document)
	return root
}

// become puts the value in the place of this one.
func (n *tree) become(value any) {
	n.fields, n.items, n.isList, n.scalar = nil, nil, false, nil
	switch value := value.(type) {
	case map[string]any:
		n.fields = map[string]*tree{}
		for name, field := range value {
			n.set(name, field)
		}
	case []any:
		n.isList = true
		for _, item := range value {
			n.append(item)
		}
	default:
		n.scalar = value
	}
}

// set sets a field. A value that is not a struct becomes a struct.
func (n *tree) set(name string, value any) {
	if n.fields == nil {
		n.become(map[string]any{})
	}
	field := &tree{parent: n, name: name, path: n.path + "." + name}
	field.become(value)
	n.fields[name] = field
}

func (n *tree) append(value any) {
	item := &tree{parent: n, path: n.path + "[]"}
	item.become(value)
	n.items = append(n.items, item)
}

// remove takes this out of its parent.
func (n *tree) remove() {
	if n.parent == nil {
		return
	}
	delete(n.parent.fields, n.name)
	n.parent.items = slices.DeleteFunc(n.parent.items, func(item *tree) bool { return item == n })
}

// duplicate adds another one of this to its list.
func (n *tree) duplicate() {
	if n.parent != nil && n.parent.isList {
		n.parent.append(n.json())
	}
}

// swap changes the places of this and of another element of its list.
func (n *tree) swap(c *chooser) {
	if n.parent == nil || !n.parent.isList {
		return
	}
	items := n.parent.items
	i, j := slices.Index(items, n), c.next(len(items))
	items[i], items[j] = items[j], items[i]
}

// perturb changes a scalar a little.
func (n *tree) perturb(c *chooser) {
	switch scalar := n.scalar.(type) {
	case string:
		at := c.next(len(scalar) + 1)
		n.scalar = scalar[:at] + string(rune(c.next(128))) + scalar[at:]
	case int64:
		n.scalar = scalar + int64(c.next(256)) - 128
	case bool:
		n.scalar = !scalar
	}
}

func (n *tree) json() any {
	switch {
	case n.isList:
		items := make([]any, 0, len(n.items))
		for _, item := range n.items {
			items = append(items, item.json())
		}
		return items
	case n.fields != nil:
		fields := make(map[string]any, len(n.fields))
		for name, field := range n.fields {
			fields[name] = field.json()
		}
		return fields
	default:
		return n.scalar
	}
}

// all returns this and everything below it, always in the same order.
func (n *tree) all() []*tree {
	nodes := []*tree{n}
	for _, name := range slices.Sorted(maps.Keys(n.fields)) {
		nodes = append(nodes, n.fields[name].all()...)
	}
	for _, item := range n.items {
		nodes = append(nodes, item.all()...)
	}
	return nodes
}
