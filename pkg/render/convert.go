// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package render

import (
	"fmt"

	"k8s.io/apimachinery/pkg/runtime"
)

// Convert converts an API type to its apply configuration, or an apply configuration to its API type. Both have the same JSON form.
// from and to must be pointers to structs.
func Convert(from, to any) error {
	fields, err := Fields(from)
	if err != nil {
		return err
	}
	return FromFields(fields, to)
}

// ConvertSet is like Convert. It leaves out fields that are unset in the API type, but encoded.
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

// SetFields is like Fields. It leaves out fields that are unset in the API type, but encoded.
func SetFields(from any) (map[string]any, error) {
	fields, err := Fields(from)
	if err != nil {
		return nil, err
	}
	dropUnset("", fields)
	return fields, nil
}

// FromFields decodes the JSON form of a struct into a pointer to it.
func FromFields(fields map[string]any, to any) error {
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(fields, to); err != nil {
		return fmt.Errorf("decoding %T: %w", to, err)
	}
	return nil
}

// dropUnset removes the fields that are unset, but encoded, from the value of the field with the name. These are null, such as the
// containers of an overlay without containers, which a patch would treat as a deletion, structs without fields, and a divisor of 0,
// which means 1.
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

// isUnset identifies fields by name, because some structs, such as emptyDir, are set even if they are empty. The keys of a map of
// the user, such as annotations, can have any name, but only string values. Therefore, isUnset also needs the name of the parent of
// a string.
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
