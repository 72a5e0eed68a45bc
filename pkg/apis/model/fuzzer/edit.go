// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package fuzzer

import (
	"strings"
)

// Editor changes decoded JSON documents as people, tools and accidents do: field by field, with values that are at home
// in the field, on the edge of what is valid, or from somewhere else.
type Editor struct {
	// donors are the values seen at each path, with "[]" in place of indexes. fields are the names seen below a path.
	donors map[string][]any
	fields map[string][]string
}

// NewEditor returns an editor that knows the fields and the values of these documents.
func NewEditor(documents ...any) *Editor {
	e := &Editor{donors: map[string][]any{}, fields: map[string][]string{}}
	for _, document := range documents {
		for _, n := range newTree(document).all() {
			e.donors[n.path] = append(e.donors[n.path], n.json())
			if n.parent != nil && !n.parent.isList && len(e.donors[n.path]) == 1 {
				e.fields[n.parent.path] = append(e.fields[n.parent.path], n.name)
			}
		}
	}
	return e
}

// maxNodes is the size from which on a document is left alone. Each edit may double it.
const maxNodes = 5000

// Edit returns the document with changes that choices decide: the same ones always make the same changes. Neither the
// document nor what the editor knows is changed.
func (e *Editor) Edit(document any, choices []byte) any {
	root := newTree(document)
	for c := (chooser{choices}); len(c.rest) > 0; {
		nodes := root.all()
		if len(nodes) > maxNodes {
			break
		}
		// A box has more than 256 places.
		place := c.next(256)<<8 + c.next(256)
		e.editNode(nodes[place%len(nodes)], nodes, &c)
	}
	return root.json()
}

// chooser takes choices off a string of bytes, and the first of them when the string is used up.
type chooser struct{ rest []byte }

func (c *chooser) next(choices int) int {
	if len(c.rest) == 0 || choices == 0 {
		return 0
	}
	choice := int(c.rest[0]) % choices
	c.rest = c.rest[1:]
	return choice
}

// editNode makes one edit of the place or of what it is in: most places are deep down, and lists and structs would
// hardly ever be edited as such.
func (e *Editor) editNode(n *tree, nodes []*tree, c *chooser) {
	for range c.next(3) {
		if n.parent != nil {
			n = n.parent
		}
	}
	edits := []func(){
		func() { e.graft(n, c) },
		func() { n.remove() },
		func() { n.become(edgeValues[c.next(len(edgeValues))]) },
		func() { n.become(nodes[c.next(len(nodes))].json()) },
	}
	if n.parent != nil && n.parent.isList {
		edits = append(edits, n.duplicate, n.duplicate, func() { n.swap(c) })
	}
	if n.isList || n.fields != nil {
		edits = append(edits, func() { e.add(n, c) }, func() { e.add(n, c) }, func() { e.add(n, c) })
	} else {
		edits = append(edits, func() { n.perturb(c) }, func() { n.perturb(c) })
	}
	edits[c.next(len(edits))]()
}

// graft puts another value in the place of this one that was seen in such a place.
func (e *Editor) graft(n *tree, c *chooser) {
	if donors := e.donors[n.path]; len(donors) > 0 {
		n.become(donors[c.next(len(donors))])
	}
}

// add adds a field to a struct, or an element to a list.
func (e *Editor) add(n *tree, c *chooser) {
	if n.isList {
		if donors := e.donors[n.path+"[]"]; len(donors) > 0 {
			n.append(donors[c.next(len(donors))])
		}
		return
	}
	names := e.fields[n.path]
	if len(names) == 0 {
		return
	}
	name := names[c.next(len(names))]
	donors := e.donors[n.path+"."+name]
	n.set(name, donors[c.next(len(donors))])
}

// edgeValues are what is often on one side or the other of what is valid.
var edgeValues = []any{
	nil, true, false, map[string]any{}, []any{},
	int64(0), int64(1), int64(-1), int64(2), int64(80), int64(1023), int64(30000), int64(32768), int64(65535), int64(65536),
	int64(1<<31 - 1), int64(1 << 31), int64(-1 << 31), int64(1<<63 - 1), 0.5,
	"", " ", "a", "A", "a.b", "a_b", "-a", "1a", "é", "\x00", "a\nb", "0", "1", "-1", "80", "65536", "http", "web",
	"0%", "1%", "100%", "101%", "30%", "%", "1Gi", "-1Gi", "0", "1m", "1e100", "0.1", "NaN",
	"TCP", "UDP", "SCTP", "Always", "Never", "OnFailure", "None", "ClusterIP", "Headless", "LoadBalancer",
	"/", "/a", "/a/../b", "..", "a:b", "$(A)", "$(", "=", "nginx", "nginx@sha256:0", "registry:5000/nginx", "http://foo/bar",
	"modelbox", "app.kubernetes.io/managed-by", "example.com/a", "a/b/c", "metadata.name", "metadata.labels['a']", "limits.cpu",
	strings.Repeat("a", 15), strings.Repeat("a", 16), strings.Repeat("a", 63), strings.Repeat("a", 64),
	strings.Repeat("a", 253), strings.Repeat("a", 254), strings.Repeat("a.", 127),
}
