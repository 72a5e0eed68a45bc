// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

// Package childfields parses paths of fields of the children of boxes, such as spec.template.spec.containers[name=app].resources.
// The schemas of server-side apply determine which fields exist, and which lists have keys.
package childfields

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
	"sigs.k8s.io/structured-merge-diff/v6/schema"
	"sigs.k8s.io/structured-merge-diff/v6/value"
)

// Path is the way to a field, and to all that is below it. A wildcard in it is any element of a list.
type Path []fieldpath.PathElementMatcher

// Covers returns whether a field is the field of the path, or below it.
func (p Path) Covers(field fieldpath.Path) bool {
	if len(field) < len(p) {
		return false
	}
	return !slices.ContainsFunc(p, func(step fieldpath.PathElementMatcher) bool {
		own := field[0]
		field = field[1:]
		return !step.Wildcard && !step.PathElement.Equals(own)
	})
}

// Names returns the names of fields and keys of maps on the way, as long as it leads to no element of a list.
func (p Path) Names() []string {
	var names []string
	for _, step := range p {
		if step.Wildcard || step.FieldName == nil {
			break
		}
		names = append(names, *step.FieldName)
	}
	return names
}

// Parse reads a path of fields of a child of the kind, which is one of those that boxes have. The error says what is wrong
// with it, and what may be there.
func Parse(kind, text string) (Path, error) {
	types, known := schemas()[kind]
	if !known {
		return nil, fmt.Errorf("boxes have no children of the kind %s", kind)
	}
	p := &parser{schema: types.schema, at: types.ref, rest: text}
	for p.rest != "" {
		if err := p.step(); err != nil {
			return nil, err
		}
	}
	return p.path, nil
}

// parser reads a path from its beginning on.
type parser struct {
	schema *schema.Schema
	// at is the type of the field that path is the way to.
	at   schema.TypeRef
	path Path
	// read is what is behind, rest what is to come.
	read, rest string
}

// step reads one field name, map key or element of a list.
func (p *parser) step() error {
	atom, isKnown := p.schema.Resolve(p.at)
	switch {
	case !isKnown:
		return fmt.Errorf("%s has no fields", p.read)
	case atom.List != nil && atom.List.ElementRelationship == schema.Associative:
		return p.element(atom.List)
	case atom.Map != nil && atom.Map.ElementRelationship != schema.Atomic:
		return p.member(atom.Map)
	default:
		return fmt.Errorf("what is below %s cannot be named: it is set as a whole", p.read)
	}
}

// member reads a field of a struct or a key of a map.
func (p *parser) member(of *schema.Map) error {
	if strings.HasPrefix(p.rest, "[") {
		key, err := p.brackets()
		if err != nil {
			return err
		}
		return p.enter(of, unquoted(key))
	}
	if p.read != "" {
		if p.rest[0] != '.' {
			return fmt.Errorf("what follows %s must begin with a dot", p.read)
		}
		p.advance(1)
	}
	end := strings.IndexAny(p.rest, ".[")
	if len(of.Fields) == 0 && !p.hasMembers(of.ElementType) {
		end = -1 // Keys of annotations have dots in them.
	}
	if end < 0 {
		end = len(p.rest)
	}
	name := p.rest[:end]
	if name == "" {
		return fmt.Errorf("a name is missing after %q", p.read)
	}
	p.advance(end)
	return p.enter(of, name)
}

// enter goes to a field of a struct or to a key of a map.
func (p *parser) enter(of *schema.Map, name string) error {
	if field, isField := of.FindField(name); isField {
		p.at = field.Type
	} else if isMap := len(of.Fields) == 0; isMap {
		p.at = of.ElementType
	} else {
		return fmt.Errorf("there is no field %s", p.read)
	}
	p.path = append(p.path, fieldpath.PathElementMatcher{PathElement: fieldpath.PathElement{FieldName: &name}})
	return nil
}

// element reads an element of a list, or any.
func (p *parser) element(of *schema.List) error {
	example := "[*]"
	if len(of.Keys) > 0 {
		example += " or [" + strings.Join(of.Keys, "=…,") + "=…]"
	}
	if !strings.HasPrefix(p.rest, "[") {
		return fmt.Errorf("%s is a list, whose elements are named %s", p.read, example)
	}
	list := p.read
	selector, err := p.brackets()
	if err != nil {
		return err
	}
	step := fieldpath.MatchAnyPathElement()
	if selector != "*" {
		key, err := p.key(of, selector)
		if err != nil || len(of.Keys) == 0 {
			return fmt.Errorf("%s has no element [%s]: elements are named %s", list, selector, example)
		}
		step = fieldpath.PathElementMatcher{PathElement: fieldpath.PathElement{Key: &key}}
	}
	p.at = of.ElementType
	p.path = append(p.path, step)
	return nil
}

// key reads the keys of an element of a list, all of which have to be there.
func (p *parser) key(of *schema.List, selector string) (value.FieldList, error) {
	var key value.FieldList
	element, _ := p.schema.Resolve(of.ElementType)
	for pair := range strings.SplitSeq(selector, ",") {
		name, text, isPair := strings.Cut(pair, "=")
		if name = strings.TrimSpace(name); !isPair || !slices.Contains(of.Keys, name) {
			return nil, fmt.Errorf("%q is no key", name)
		}
		field, _ := element.Map.FindField(name)
		key = append(key, value.Field{Name: name, Value: value.NewValueInterface(p.scalar(field.Type, strings.TrimSpace(text)))})
	}
	key.Sort()
	if len(key) != len(of.Keys) {
		return nil, fmt.Errorf("keys are missing or there twice")
	}
	return key, nil
}

// scalar reads a value as a type has it.
func (p *parser) scalar(of schema.TypeRef, text string) any {
	if atom, _ := p.schema.Resolve(of); atom.Scalar != nil && *atom.Scalar == schema.Numeric {
		var number int64
		if err := json.Unmarshal([]byte(text), &number); err == nil {
			return number
		}
	}
	return unquoted(text)
}

// hasMembers returns whether there are fields, keys or elements below one of the type.
func (p *parser) hasMembers(of schema.TypeRef) bool {
	atom, _ := p.schema.Resolve(of)
	return atom.Map != nil || atom.List != nil
}

// brackets reads what is in brackets. A bracket may be in quotes.
func (p *parser) brackets() (string, error) {
	isQuoted := false
	for i, char := range p.rest {
		switch {
		case char == '"':
			isQuoted = !isQuoted
		case char == ']' && !isQuoted:
			inside := p.rest[1:i]
			p.advance(i + 1)
			return inside, nil
		}
	}
	return "", fmt.Errorf("the bracket after %s is not closed", p.read)
}

func (p *parser) advance(by int) {
	p.read, p.rest = p.read+p.rest[:by], p.rest[by:]
}

// unquoted returns a text without the quotes that it may be in.
func unquoted(text string) string {
	var inside string
	if err := json.Unmarshal([]byte(text), &inside); err == nil {
		return inside
	}
	return text
}
