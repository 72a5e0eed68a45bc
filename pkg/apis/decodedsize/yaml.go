// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package decodedsize

import (
	"encoding/json"
	"fmt"

	"sigs.k8s.io/yaml"
	goyaml "sigs.k8s.io/yaml/goyaml.v2"
)

// yamlByteBytes is how much memory each byte of YAML can take while it is parsed: two bytes are a node.
const yamlByteBytes = 256

// YAMLError says that YAML takes too much memory before it is an object.
type YAMLError struct{ reason string }

func (e *YAMLError) Error() string { return e.reason }

// YAMLToJSON returns YAML as JSON, and how many bytes of memory the parser needs. It returns JSON, which is YAML as well,
// unchanged. It returns a YAMLError if the parser needs more than the limit, or if the data has more than maxJSON bytes as JSON,
// because an alias in YAML can represent a value of any length. It returns no JSON for data that is not YAML.
func YAMLToJSON(data []byte, limit, maxJSON int64) (asJSON []byte, bytes int64, err error) {
	if json.Valid(data) {
		return data, 0, nil
	}
	bytes = yamlByteBytes * int64(len(data))
	if bytes > limit {
		return nil, 0, &YAMLError{fmt.Sprintf("YAML must have at most %d bytes unless it is JSON", limit/yamlByteBytes)}
	}
	var parsed any
	if goyaml.Unmarshal(data, &parsed) != nil {
		return nil, bytes, nil // the decoder returns the same error
	}
	if jsonBytes(parsed, maxJSON) > maxJSON {
		return nil, 0, &YAMLError{fmt.Sprintf("YAML must have at most %d bytes once its aliases are replaced by their values", maxJSON)}
	}
	if asJSON, err = yaml.YAMLToJSON(data); err != nil {
		return nil, bytes, nil //nolint:nilerr // the decoder returns the same error
	}
	return asJSON, bytes, nil
}

// jsonBytes returns about how many bytes a parsed value has as JSON, or more than the limit.
func jsonBytes(value any, limit int64) int64 {
	bytes := int64(len(`"",`))
	add := func(inner any) bool {
		bytes += jsonBytes(inner, limit-bytes)
		return bytes <= limit
	}
	switch value := value.(type) {
	case string:
		bytes += int64(len(value))
	case []any:
		for _, element := range value {
			if !add(element) {
				break
			}
		}
	case map[any]any:
		for key, element := range value {
			if !add(key) || !add(element) {
				break
			}
		}
	}
	return bytes
}
