// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package validation

import (
	"fmt"
	"reflect"
	"strings"
	"unicode"

	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model"
)

// lazyPath is the path of a field that costs nothing before it is asked for.
type lazyPath struct {
	// root is the path of what has no parent.
	root   *field.Path
	parent *lazyPath
	// step is the JSON name of a field, or the key of a map in isKey; empty for the element of index.
	step  string
	index int
	isKey bool
}

func (p *lazyPath) build() *field.Path {
	switch {
	case p.parent == nil:
		return p.root
	case p.isKey:
		return p.parent.build().Key(p.step)
	case p.step == "":
		return p.parent.build().Index(p.index)
	default:
		return p.parent.build().Child(p.step)
	}
}

// leafTypes have no fields that a user gives a list, a map or a string for.
var leafTypes = map[reflect.Type]bool{
	reflect.TypeFor[resource.Quantity](): true, reflect.TypeFor[metav1.Time](): true,
	reflect.TypeFor[[]metav1.ManagedFieldsEntry](): true,
}

// visitFields calls visit for the value at path and all that is below it. key is the name of the type that has the value
// as a field, a dot, and the JSON name of the field; empty for an element of a list or a map.
func visitFields(value reflect.Value, path *lazyPath, key string, visit func(*lazyPath, string, reflect.Value)) {
	if value.Kind() == reflect.Pointer {
		if !value.IsNil() {
			visitFields(value.Elem(), path, key, visit)
		}
		return
	}
	if leafTypes[value.Type()] {
		return
	}
	visit(path, key, value)
	switch value.Kind() {
	case reflect.Struct:
		for _, field := range fieldsOf(value.Type()) {
			step := path
			if field.name != "" {
				step = &lazyPath{parent: path, step: field.name}
			}
			visitFields(value.Field(field.index), step, field.key, visit)
		}
	case reflect.Slice:
		if !hasFields(value.Type().Elem()) {
			return
		}
		for i := range value.Len() {
			visitFields(value.Index(i), &lazyPath{parent: path, index: i}, "", visit)
		}
	case reflect.Map:
		if !hasFields(value.Type().Elem()) {
			return
		}
		for _, name := range value.MapKeys() {
			visitFields(value.MapIndex(name), &lazyPath{parent: path, step: name.String(), isKey: true}, "", visit)
		}
	}
}

// hasFields returns whether there can be anything below a value of the type.
func hasFields(t reflect.Type) bool {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	return (t.Kind() == reflect.Struct || t.Kind() == reflect.Slice || t.Kind() == reflect.Map) && !leafTypes[t]
}

// structField is a field of a struct.
type structField struct {
	index int
	// name is its JSON name, empty for one whose fields are those of the struct.
	name string
	key  string
}

// fieldsByType are the fields of each type that a box, a stack or a PodDebugger can have below which there are limits.
var fieldsByType = func() map[reflect.Type][]structField {
	known := map[reflect.Type][]structField{}
	addFields(reflect.TypeFor[model.ModelBoxSpec](), known)
	addFields(reflect.TypeFor[model.ModelStackSpec](), known)
	addFields(reflect.TypeFor[model.PodDebuggerSpec](), known)
	addFields(reflect.TypeFor[metav1.ObjectMeta](), known)
	return known
}()

func fieldsOf(t reflect.Type) []structField {
	fields, ok := fieldsByType[t]
	if !ok {
		panic(fmt.Sprintf("%v is not among the types that a box, a stack or a PodDebugger has", t))
	}
	return fields
}

func addFields(t reflect.Type, known map[reflect.Type][]structField) {
	for t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice || t.Kind() == reflect.Map {
		t = t.Elem()
	}
	if _, ok := known[t]; ok || t.Kind() != reflect.Struct || leafTypes[t] {
		return
	}
	known[t] = nil
	fields := []structField{}
	for i := range t.NumField() {
		f := t.Field(i)
		kind := f.Type
		for kind.Kind() == reflect.Pointer {
			kind = kind.Elem()
		}
		name := jsonName(f)
		key := t.Name() + "." + name
		if _, isLimited := maxima[key]; !f.IsExported() || name == "-" || !hasFields(kind) && !isLimited {
			continue
		}
		addFields(f.Type, known)
		fields = append(fields, structField{index: i, name: name, key: key})
	}
	known[t] = fields
}

// jsonName is that of the field in the served version: the internal types, which have no tags, name their fields alike.
func jsonName(f reflect.StructField) string {
	name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
	if name != "" || f.Anonymous || options == "inline" {
		return name
	}
	capitals := strings.IndexFunc(f.Name, unicode.IsLower)
	switch {
	case capitals < 0: // an abbreviation alone
		capitals = len(f.Name)
	case capitals > 1: // an abbreviation and the first letter of the next word
		capitals--
	}
	return strings.ToLower(f.Name[:capitals]) + f.Name[capitals:]
}
