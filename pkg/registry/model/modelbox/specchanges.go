// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package modelbox

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	apiequality "k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model"
	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
)

const (
	// maxChanges is how many changed fields are listed. More changes are listed as one change of the spec that contains them.
	maxChanges = 100
	// maxChangedBytes is how much of a value is shown.
	maxChangedBytes = 256
)

// SpecChanges returns what of a spec has become another one, but for the number of pods and for the pause, which are no matter
// of a revision.
func SpecChanges(before, after *modelv1.ModelBoxSpec) ([]model.ModelBoxFieldChange, error) {
	was, err := revisedFields(before)
	if err != nil {
		return nil, err
	}
	is, err := revisedFields(after)
	if err != nil {
		return nil, err
	}
	changes := &fieldChanges{}
	changes.compareMaps("spec", was, is)
	if len(changes.found) > maxChanges {
		changes = &fieldChanges{isShallow: true}
		changes.compareMaps("spec", was, is)
	}
	return changes.found, changes.err
}

func revisedFields(spec *modelv1.ModelBoxSpec) (map[string]any, error) {
	fields, err := runtime.DefaultUnstructuredConverter.ToUnstructured(spec)
	if err != nil {
		return nil, fmt.Errorf("converting a spec: %w", err)
	}
	delete(fields, "replicas")
	delete(fields, "paused")
	return fields, nil
}

// fieldChanges are those that a comparison has found.
type fieldChanges struct {
	// isShallow leaves what is in a field together.
	isShallow bool
	found     []model.ModelBoxFieldChange
	err       error
}

func (c *fieldChanges) compareMaps(path string, before, after map[string]any) {
	union := maps.Clone(before)
	maps.Copy(union, after)
	for _, key := range slices.Sorted(maps.Keys(union)) {
		c.compare(keyPath(path, key), before[key], after[key])
	}
}

func (c *fieldChanges) compare(path string, before, after any) {
	if apiequality.Semantic.DeepEqual(before, after) {
		return
	}
	if !c.isShallow {
		if before, after, ok := both[map[string]any](before, after); ok {
			c.compareMaps(path, before, after)
			return
		}
		if before, after, ok := both[[]any](before, after); ok && c.compareLists(path, before, after) {
			return
		}
	}
	c.add(path, before, after)
}

// compareLists compares the items of two lists that have names, or as many of them. It returns false for others, and for lists
// of which but the order differs.
func (c *fieldChanges) compareLists(path string, before, after []any) bool {
	was, wasNamed := byName(before)
	is, isNamed := byName(after)
	known := len(c.found)
	switch {
	case wasNamed && isNamed:
		union := maps.Clone(was)
		maps.Copy(union, is)
		for _, name := range slices.Sorted(maps.Keys(union)) {
			c.compare(path+"["+name+"]", was[name], is[name])
		}
	case len(before) == len(after):
		for i := range before {
			c.compare(path+"["+strconv.Itoa(i)+"]", before[i], after[i])
		}
	}
	return len(c.found) > known
}

func (c *fieldChanges) add(path string, before, after any) {
	was, err := cutJSON(before)
	if err == nil {
		var is string
		is, err = cutJSON(after)
		c.found = append(c.found, model.ModelBoxFieldChange{Path: path, Before: was, After: is})
	}
	if err != nil {
		c.err = fmt.Errorf("encoding %s: %w", path, err)
	}
}

// cutJSON returns the beginning of a value; "" for none.
func cutJSON(value any) (string, error) {
	if value == nil {
		return "", nil
	}
	data, err := json.Marshal(value)
	if err != nil || len(data) <= maxChangedBytes {
		return string(data), err
	}
	return strings.ToValidUTF8(string(data[:maxChangedBytes]), "") + "…", nil
}

// both returns two values of which either has the type.
func both[T any](before, after any) (was, is T, ok bool) {
	was, wasOK := before.(T)
	is, isOK := after.(T)
	return was, is, wasOK && isOK
}

// byName returns the items of a list by their names, false unless each has one of its own.
func byName(items []any) (map[string]any, bool) {
	named := make(map[string]any, len(items))
	for _, item := range items {
		fields, _ := item.(map[string]any)
		name, ok := fields["name"].(string)
		if _, isTaken := named[name]; !ok || isTaken {
			return nil, false
		}
		named[name] = item
	}
	return named, true
}

// keyPath returns the path of what is at the key.
func keyPath(path, key string) string {
	if strings.ContainsAny(key, "./") {
		return path + "[" + key + "]"
	}
	return path + "." + key
}
