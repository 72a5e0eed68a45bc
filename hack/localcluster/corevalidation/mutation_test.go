// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package corevalidation

import (
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// The values that fields are given, besides those that the corpus has for other fields of their type.
var (
	strangeStrings = []string{
		"", " ", "a", "A", "a b", "a ", "-a", "a.b", "a..b", "a_b", "a/b", "/a", "../a", "a/../b", "..a", "example.com/a", "example.com/A b",
		"kubernetes.io/a", "a=b", "a:b", "1", "10.0.0.1", "10.0.0.01", "::1", "ä", "\x01", "true",
		strings.Repeat("a", 16), strings.Repeat("a", 64), strings.Repeat("a", 254), strings.Repeat("a.", 130),
	}
	strangeNumbers    = []int64{-1, 0, 1, 2, 3, 10, 101, 256, 512, 3600, 65535, 65536, 86401, math.MaxInt32}
	strangeQuantities = []string{"-1", "0", "1m", "1500m", "1", "3Mi", "1Gi", "100Gi"}
)

// change changes one field of an object, and returns how to take it back.
type change struct {
	path string
	// isStrange is true for one of the many strange texts that a field is given.
	isStrange bool
	make      func() (undo func())
}

// changes are all changes of single fields of the object that value points to.
func changes(object any, values map[reflect.Type][]reflect.Value) []change {
	m := &mutator{values: values}
	m.visit(reflect.ValueOf(object).Elem(), "")
	return m.changes
}

type mutator struct {
	values  map[reflect.Type][]reflect.Value
	changes []change
}

// set adds the change of a value to another one.
func (m *mutator) set(value, other reflect.Value, path string) {
	m.add(value, other, path, false)
}

// setStrange adds the change of a value to a strange text.
func (m *mutator) setStrange(value, strange reflect.Value, path string) {
	m.add(value, strange, path, true)
}

func (m *mutator) add(value, other reflect.Value, path string, isStrange bool) {
	if reflect.DeepEqual(value.Interface(), other.Interface()) {
		return
	}
	m.changes = append(m.changes, change{path + " = " + describe(other), isStrange, func() func() {
		before := reflect.New(value.Type()).Elem()
		before.Set(value)
		value.Set(other)
		return func() { value.Set(before) }
	}})
}

func describe(value reflect.Value) string {
	if !value.IsValid() {
		return "none"
	}
	text, err := json.Marshal(value.Interface())
	if err != nil {
		return err.Error()
	}
	return string(text[:min(len(text), 100)])
}

func (m *mutator) visit(value reflect.Value, path string) {
	for _, other := range m.values[value.Type()] {
		m.set(value, other, path)
	}
	switch value.Interface().(type) {
	case resource.Quantity:
		for _, quantity := range strangeQuantities {
			m.set(value, reflect.ValueOf(resource.MustParse(quantity)), path)
		}
		return
	case intstr.IntOrString:
		for _, number := range []int{-1, 0, 1, 8080, 65536} {
			m.set(value, reflect.ValueOf(intstr.FromInt32(int32(number))), path)
		}
		for _, name := range []string{"", "http", "8080", "a_b", "other", "a-port-name-too-long"} {
			m.set(value, reflect.ValueOf(intstr.FromString(name)), path)
		}
		return
	case metav1.ObjectMeta:
		for _, field := range []string{"Labels", "Annotations", "Finalizers"} {
			m.visit(value.FieldByName(field), path+"."+field)
		}
		return
	case metav1.Time:
		return
	}
	switch value.Kind() {
	case reflect.String:
		for _, text := range strangeStrings {
			m.setStrange(value, reflect.ValueOf(text).Convert(value.Type()), path)
		}
	case reflect.Int32, reflect.Int64:
		for _, number := range strangeNumbers {
			m.set(value, reflect.ValueOf(number).Convert(value.Type()), path)
		}
	case reflect.Bool:
		m.set(value, reflect.ValueOf(!value.Bool()), path)
	case reflect.Struct:
		for i := range value.NumField() {
			m.visit(value.Field(i), path+"."+value.Type().Field(i).Name)
		}
	case reflect.Pointer:
		m.visitPointer(value, path)
	case reflect.Slice:
		m.visitSlice(value, path)
	case reflect.Map:
		m.visitMap(value, path)
	}
}

func (m *mutator) visitPointer(value reflect.Value, path string) {
	m.set(value, reflect.Zero(value.Type()), path)
	m.set(value, reflect.New(value.Type().Elem()), path)
	if !value.IsNil() {
		m.visit(value.Elem(), path)
		return
	}
	// Of a value that there is not, its simple kinds are tried.
	filled := &mutator{values: m.values}
	pointer := reflect.New(value.Type().Elem())
	if kind := pointer.Elem().Kind(); kind != reflect.Struct {
		filled.visit(pointer.Elem(), path)
	}
	for _, inner := range filled.changes {
		m.changes = append(m.changes, change{inner.path, inner.isStrange, func() func() {
			undo := inner.make()
			value.Set(pointer)
			return func() { value.SetZero(); undo() }
		}})
	}
}

func (m *mutator) visitSlice(value reflect.Value, path string) {
	element := value.Type().Elem()
	m.set(value, reflect.Zero(value.Type()), path)
	m.set(value, appended(value, reflect.Zero(element)), path+"[+]")
	for i := range value.Len() {
		without := reflect.AppendSlice(copyOf(value.Slice(0, i)), value.Slice(i+1, value.Len()))
		m.set(value, without, fmt.Sprintf("%s without [%d]", path, i))
		m.set(value, appended(value, value.Index(i)), fmt.Sprintf("%s with [%d] twice", path, i))
		m.visit(value.Index(i), fmt.Sprintf("%s[%d]", path, i))
	}
}

// copyOf returns a slice with the elements of another one.
func copyOf(slice reflect.Value) reflect.Value {
	return reflect.AppendSlice(reflect.MakeSlice(slice.Type(), 0, slice.Len()), slice)
}

func appended(slice, element reflect.Value) reflect.Value {
	return reflect.Append(copyOf(slice), element)
}

func (m *mutator) visitMap(value reflect.Value, path string) {
	m.set(value, reflect.Zero(value.Type()), path)
	element := reflect.Zero(value.Type().Elem())
	for _, key := range value.MapKeys() {
		element = value.MapIndex(key)
		m.visitMapValue(value, key, path)
	}
	for _, text := range strangeStrings {
		m.setKey(value, reflect.ValueOf(text).Convert(value.Type().Key()), element, path)
	}
	for _, name := range []string{"cpu", "memory", "hugepages-2Mi", "hugepages-a", "storage", "requests.cpu", "example.com/other", "requests.example.com/a"} {
		m.setKey(value, reflect.ValueOf(name).Convert(value.Type().Key()), element, path)
	}
}

func (m *mutator) visitMapValue(value, key reflect.Value, path string) {
	copied := reflect.New(value.Type().Elem()).Elem()
	copied.Set(value.MapIndex(key))
	inner := &mutator{values: m.values}
	inner.visit(copied, fmt.Sprintf("%s[%v]", path, key))
	for _, change := range inner.changes {
		m.changes = append(m.changes, change.inMap(value, key, copied))
	}
	m.setKey(value, key, reflect.Value{}, path)
}

// inMap returns the change of the copy of an element as one of the element.
func (c change) inMap(value, key, copied reflect.Value) change {
	return change{c.path, c.isStrange, func() func() {
		before := value.MapIndex(key)
		undo := c.make()
		value.SetMapIndex(key, copied)
		return func() { value.SetMapIndex(key, before); undo() }
	}}
}

// setKey adds the change of one key of a map; without an element, it is taken out.
func (m *mutator) setKey(value, key, element reflect.Value, path string) {
	m.changes = append(m.changes, change{fmt.Sprintf("%s[%q] = %s", path, key, describe(element)), element.IsValid(), func() func() {
		if value.IsNil() {
			value.Set(reflect.MakeMap(value.Type()))
			value.SetMapIndex(key, element)
			return func() { value.SetZero() }
		}
		before := value.MapIndex(key)
		value.SetMapIndex(key, element)
		return func() { value.SetMapIndex(key, before) }
	}})
}
