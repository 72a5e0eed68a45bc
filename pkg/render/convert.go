// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package render

import (
	"fmt"

	"k8s.io/apimachinery/pkg/runtime"
)

// Convert turns an API type into its apply configuration, which has the same JSON form with every field optional, or the other
// way round. Both are pointers to structs.
func Convert(from, to any) error {
	fields, err := Fields(from)
	if err != nil {
		return err
	}
	return FromFields(fields, to)
}

// ConvertSet is Convert without the fields that the API type encodes although they are unset.
func ConvertSet(from, to any) error {
	fields, err := SetFields(from)
	if err != nil {
		return err
	}
	return FromFields(fields, to)
}

// Fields returns the JSON form of a pointer to a struct.
func Fields(from any) (map[string]any, error) {
	fields, err := runtime.DefaultUnstructuredConverter.ToUnstructured(from)
	if err != nil {
		return nil, fmt.Errorf("encoding %T: %w", from, err)
	}
	return fields, nil
}

// SetFields is Fields without the fields that an API type encodes although they are unset.
func SetFields(from any) (map[string]any, error) {
	fields, err := Fields(from)
	if err != nil {
		return nil, err
	}
	dropUnset("", fields)
	return fields, nil
}

// FromFields fills in a struct from its JSON form.
func FromFields(fields map[string]any, to any) error {
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(fields, to); err != nil {
		return fmt.Errorf("decoding %T: %w", to, err)
	}
	return nil
}

// dropUnset removes the fields that a Go type encodes although they are unset from the value of the field of the given name: null,
// which a patch would take for "delete", such as the containers of an overlay that has none; structs without a field; and a divisor
// of 0, which means 1.
func dropUnset(name string, value any) {
	switch value := value.(type) {
	case map[string]any:
		for field, fieldValue := range value {
			if isUnset(name, field, fieldValue) {
				delete(value, field)
				continue
			}
			dropUnset(field, fieldValue)
		}
	case []any:
		for _, element := range value {
			dropUnset(name, element)
		}
	}
}

// isUnset knows the fields by name: where a struct may be empty, as an emptyDir may, being there is what it says. The
// keys of a user's map, such as an annotation, can have any name, but only strings for values. So a string is known by
// the name of what it is in, too.
func isUnset(parent, name string, value any) bool {
	switch value := value.(type) {
	case nil:
		return true
	case map[string]any:
		return len(value) == 0 && (name == "resources" || name == "metadata" || name == "spec")
	case string:
		return value == "0" && parent == "resourceFieldRef" && name == "divisor"
	default:
		return false
	}
}
