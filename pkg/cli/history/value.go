// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package history

import (
	"bytes"
	"encoding/json"
)

// withoutNull returns the JSON of a value without fields that are null, such as the containers of a pod template that has only
// annotations. A value that the server has cut stays as it is.
func withoutNull(value string) string {
	decoder := json.NewDecoder(bytes.NewBufferString(value))
	decoder.UseNumber()
	var content any
	if err := decoder.Decode(&content); err != nil || !prune(content) {
		return value
	}
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(content); err != nil {
		return value
	}
	return string(bytes.TrimSpace(out.Bytes()))
}

// prune removes fields that are null, and objects that have no others. It returns whether there are any.
func prune(content any) bool {
	pruned := false
	switch content := content.(type) {
	case map[string]any:
		for key, value := range content {
			below := prune(value)
			if fields, isObject := value.(map[string]any); value == nil || below && isObject && len(fields) == 0 {
				delete(content, key)
				below = true
			}
			pruned = pruned || below
		}
	case []any:
		for _, item := range content {
			pruned = prune(item) || pruned
		}
	}
	return pruned
}
