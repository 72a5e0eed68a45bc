// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package hostcluster

import (
	_ "embed"
	"reflect"
	"strings"
	"sync"
)

// Field is a field of a type of Kubernetes.
type Field struct {
	// Type is the Go type that declares it, as "core/v1.Lifecycle".
	Type string
	// Name is that in JSON.
	Name string
}

// String names the field as users know it.
func (f Field) String() string {
	return f.Name + " of " + f.Type[strings.LastIndexByte(f.Type, '.')+1:]
}

//go:embed introduced.txt
var introducedFields string

// introduced has the minor versions of Kubernetes that were the first with their fields. A field that is not in it is older
// than every version that is supported.
var introduced = sync.OnceValue(func() map[Field]string {
	minors := map[Field]string{}
	for line := range strings.Lines(introducedFields) {
		path, minor, _ := strings.Cut(strings.TrimSpace(line), " ")
		dot := strings.LastIndexByte(path, '.')
		minors[Field{Type: path[:dot], Name: path[dot+1:]}] = minor
	}
	return minors
})

// IntroducedIn returns the minor version of Kubernetes that was the first with the field, such as "1.34", and "" where every
// supported one has it.
func (f Field) IntroducedIn() string { return introduced()[f] }

// jsonField is a field of a struct in JSON. The fields of embedded structs are fields of the outer struct.
type jsonField struct {
	Field
	valueType reflect.Type
}

// jsonFieldsCache has what jsonFields found by type.
var jsonFieldsCache sync.Map

// jsonFields returns the fields of a struct by their names.
func jsonFields(structure reflect.Type) map[string]jsonField {
	if known, ok := jsonFieldsCache.Load(structure); ok {
		return known.(map[string]jsonField)
	}
	fields := map[string]jsonField{}
	for i := range structure.NumField() {
		declared := structure.Field(i)
		name, options, _ := strings.Cut(declared.Tag.Get("json"), ",")
		switch {
		case name == "-":
		case name == "" && (declared.Anonymous || options == "inline"):
			for name, field := range jsonFields(elementType(declared.Type)) {
				fields[name] = field
			}
		case name != "":
			fields[name] = jsonField{Field{Type: typeName(structure), Name: name}, declared.Type}
		}
	}
	jsonFieldsCache.Store(structure, fields)
	return fields
}

// elementType is what pointers, lists and maps of the type lead to.
func elementType(t reflect.Type) reflect.Type {
	for t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice || t.Kind() == reflect.Map {
		t = t.Elem()
	}
	return t
}

// typeName is a Go type as Field.Type has it.
func typeName(t reflect.Type) string {
	return strings.TrimPrefix(t.PkgPath(), "k8s.io/api/") + "." + t.Name()
}

// definitionName is what the OpenAPI documents of Kubernetes call a Go type.
func definitionName(t reflect.Type) string {
	host, path, _ := strings.Cut(t.PkgPath(), "/")
	labels := strings.Split(host, ".")
	for i, j := 0, len(labels)-1; i < j; i, j = i+1, j-1 {
		labels[i], labels[j] = labels[j], labels[i]
	}
	return strings.Join(labels, ".") + "." + strings.ReplaceAll(path, "/", ".") + "." + t.Name()
}
