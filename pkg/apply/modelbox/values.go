// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package modelbox

import (
	"encoding/json"
	"strings"

	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
	"sigs.k8s.io/structured-merge-diff/v6/value"
)

// maxValueBytes is how much is shown of a value.
const maxValueBytes = 256

// encodedAt returns the value at the path as JSON, cut after maxValueBytes, and nothing where there is none.
func encodedAt(object any, path fieldpath.Path) string {
	found, isThere := valueAt(object, path)
	if !isThere {
		return ""
	}
	encoded, err := json.Marshal(found)
	if err != nil {
		return ""
	}
	if len(encoded) <= maxValueBytes {
		return string(encoded)
	}
	return strings.ToValidUTF8(string(encoded[:maxValueBytes]), "") + "…"
}

// valueAt returns the value at the path, false where there is none.
func valueAt(object any, path fieldpath.Path) (any, bool) {
	for _, step := range path {
		var isThere bool
		if object, isThere = valueOf(object, step); !isThere {
			return nil, false
		}
	}
	return object, true
}

// valueOf returns what one step of a path leads to.
func valueOf(object any, step fieldpath.PathElement) (any, bool) {
	switch object := object.(type) {
	case map[string]any:
		if step.FieldName == nil {
			return nil, false
		}
		found, isThere := object[*step.FieldName]
		return found, isThere
	case []any:
		for i, element := range object {
			if isElement(element, i, step) {
				return element, true
			}
		}
	}
	return nil, false
}

// isElement returns whether a step of a path leads to the element of a list.
func isElement(element any, index int, step fieldpath.PathElement) bool {
	switch {
	case step.Index != nil:
		return *step.Index == index
	case step.Value != nil:
		return value.Equals(value.NewValueInterface(element), *step.Value)
	case step.Key != nil:
		item, isMap := element.(map[string]any)
		for _, key := range *step.Key {
			if !isMap || !value.Equals(value.NewValueInterface(item[key.Name]), key.Value) {
				return false
			}
		}
		return isMap
	default:
		return false
	}
}
