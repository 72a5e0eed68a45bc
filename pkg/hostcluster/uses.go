// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package hostcluster

import (
	"fmt"
	"maps"
	"reflect"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// Use is a place where an object sets a field.
type Use struct {
	Field Field
	Path  *field.Path
	// Value is what the field is set to, in the form of JSON.
	Value any
}

// usesIn returns where the object, a pointer to a struct that is at path, sets one of the fields, in the order of the object.
func (u unknownFields) usesIn(object any, path *field.Path) ([]Use, error) {
	if len(u) == 0 {
		return nil, nil
	}
	value, err := runtime.DefaultUnstructuredConverter.ToUnstructured(object)
	if err != nil {
		return nil, fmt.Errorf("encoding %T: %w", object, err)
	}
	var uses []Use
	u.visit(value, reflect.TypeOf(object), path, func(use Use, _ map[string]any) { uses = append(uses, use) })
	return uses, nil
}

// without returns a child without the fields, and the child itself where it sets none of them.
func (u unknownFields) without(child *unstructured.Unstructured) *unstructured.Unstructured {
	kind := child.GroupVersionKind()
	spec, isKnown := specs[documentOf(kind.GroupVersion())][kind.Kind]
	if !isKnown || len(u) == 0 {
		return child
	}
	path, isSet := field.NewPath("spec"), false
	u.visit(child.Object["spec"], spec, path, func(Use, map[string]any) { isSet = true })
	if !isSet {
		return child
	}
	pruned := child.DeepCopy()
	u.visit(pruned.Object["spec"], spec, path, func(use Use, parent map[string]any) { delete(parent, use.Field.Name) })
	return pruned
}

// visit calls found with each use of one of the fields in the value, and with the object that the field is in.
func (u unknownFields) visit(value any, t reflect.Type, path *field.Path, found func(use Use, parent map[string]any)) {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch value := value.(type) {
	case []any:
		if t.Kind() == reflect.Slice {
			for i, element := range value {
				u.visit(element, t.Elem(), path.Index(i), found)
			}
		}
	case map[string]any:
		switch t.Kind() {
		case reflect.Map:
			for _, key := range slices.Sorted(maps.Keys(value)) {
				u.visit(value[key], t.Elem(), path.Key(key), found)
			}
		case reflect.Struct:
			u.visitStruct(value, t, path, found)
		}
	}
}

func (u unknownFields) visitStruct(value map[string]any, t reflect.Type, path *field.Path, found func(use Use, parent map[string]any)) {
	fields := jsonFields(t)
	for _, name := range slices.Sorted(maps.Keys(value)) {
		field, isField := fields[name]
		if !isField || value[name] == nil {
			continue
		}
		if _, isUnknown := u[t][name]; isUnknown {
			found(Use{Field: field.Field, Path: path.Child(name), Value: value[name]}, value)
			continue
		}
		u.visit(value[name], field.valueType, path.Child(name), found)
	}
}
