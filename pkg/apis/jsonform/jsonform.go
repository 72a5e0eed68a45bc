// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

// Package jsonform finds values that protobuf can have and JSON cannot, such as an IntOrString that is neither an integer nor a
// string. A list with such a value cannot be encoded as JSON, or its clients cannot decode it.
package jsonform

import (
	"fmt"
	"reflect"
	"strconv"
	"sync"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/jsonname"
)

// Error is a value without a JSON form.
type Error struct {
	// Path is the path of the value, such as spec.ports[0].targetPort.
	Path string
	// Detail describes what is wrong with the value.
	Detail string
}

// Error implements error.
func (e *Error) Error() string { return e.Path + ": " + e.Detail }

// in puts a step before the path, which is the name of a field or the index of an element. It returns the error.
func (e *Error) in(step string) *Error {
	if step != "" && e.Path != "" && e.Path[0] != '[' {
		step += "."
	}
	e.Path = step + e.Path
	return e
}

// nodes has the node of each type that Find has seen. It is nil if every object of the type has a JSON form.
var nodes sync.Map

// Find returns an Error for the first value without a JSON form in an object, which is a pointer to a struct. It looks only at values
// whose type can lack a JSON form, and allocates nothing if it finds none.
func Find(object any) *Error {
	value := reflect.ValueOf(object)
	known, isKnown := nodes.Load(value.Type())
	if !isKnown {
		known, _ = nodes.LoadOrStore(value.Type(), compile(value.Type(), map[reflect.Type]*node{}))
	}
	if n := known.(*node); n != nil {
		return n.find(value)
	}
	return nil
}

// node describes a type whose values, or values in them, can lack a JSON form.
type node struct {
	// detail is the function in details, nil if the type has none.
	detail func(pointer any) string
	// fields are the fields of a struct that have a node.
	fields []field
	// element is the node of what a pointer points to, or of the elements of a list or a map.
	element *node
}

type field struct {
	index int
	// name is the JSON name, empty for a field that JSON has inline.
	name string
	node *node
}

// compile returns the node of a type, nil if each of its values has a JSON form. known are the types that it has seen.
func compile(of reflect.Type, known map[reflect.Type]*node) *node {
	if n, isKnown := known[of]; isKnown {
		return n
	}
	n := &node{detail: details[of]}
	// A type that has fields of its own type needs a node while it is compiled.
	known[of] = n
	switch of.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Map:
		n.element = compile(of.Elem(), known)
	case reflect.Struct:
		for i := range of.NumField() {
			declared := of.Field(i)
			if !declared.IsExported() {
				continue
			}
			if declared.Tag.Get("json") == "-" {
				declared.Tag = "" // The struct encodes itself, and has the field under the name that it has without a tag.
			}
			if inner := compile(declared.Type, known); inner != nil {
				n.fields = append(n.fields, field{i, jsonname.Of(declared), inner})
			}
		}
	}
	if n.detail == nil && len(n.fields) == 0 && n.element == nil {
		known[of] = nil
	}
	return known[of]
}

// find returns an Error with a path that begins at the value. The value is addressable, or a pointer.
func (n *node) find(value reflect.Value) *Error {
	switch value.Kind() {
	case reflect.Pointer:
		if value.IsNil() {
			return nil
		}
		return n.element.find(value.Elem())
	case reflect.Slice:
		for i := range value.Len() {
			if err := n.element.find(value.Index(i)); err != nil {
				return err.in("[" + strconv.Itoa(i) + "]")
			}
		}
		return nil
	case reflect.Map:
		for entries := value.MapRange(); entries.Next(); {
			element := reflect.New(value.Type().Elem()).Elem()
			element.Set(entries.Value())
			if err := n.element.find(element); err != nil {
				return err.in(fmt.Sprintf("[%v]", entries.Key()))
			}
		}
		return nil
	default:
		return n.findInStruct(value)
	}
}

func (n *node) findInStruct(value reflect.Value) *Error {
	if n.detail != nil {
		if detail := n.detail(value.Addr().Interface()); detail != "" {
			return &Error{Detail: detail}
		}
	}
	for i := range n.fields {
		if err := n.fields[i].node.find(value.Field(n.fields[i].index)); err != nil {
			return err.in(n.fields[i].name)
		}
	}
	return nil
}
