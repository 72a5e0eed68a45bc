// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package modelbox

import (
	"fmt"
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/util/strategicpatch"
)

// replaceStrategy and mergeStrategy are patch strategies: a patch replaces the value of a field, or merges with it.
const (
	replaceStrategy = "replace"
	mergeStrategy   = "merge"
)

// merge merges the patch into the original, and returns the result. It is equivalent to strategicpatch.StrategicMergeMapPatch for a
// patch without directives and nulls. Its time is linear in the length of a list, and not quadratic. The original and the patch are
// JSON as encoding/json decodes it. merge may modify both.
func merge(original, patch map[string]any, schema strategicpatch.LookupPatchMeta) (map[string]any, error) {
	for name, patchValue := range patch {
		switch patchValue := patchValue.(type) {
		case map[string]any:
			value, isMap := original[name].(map[string]any)
			if !isMap {
				break
			}
			fieldSchema, meta, err := schema.LookupPatchMetadataForStruct(name)
			if err != nil {
				return nil, err
			}
			if slices.Contains(meta.GetPatchStrategies(), replaceStrategy) {
				break
			}
			if original[name], err = merge(value, patchValue, fieldSchema); err != nil {
				return nil, inField(name, err)
			}
			continue
		case []any:
			value, isList := original[name].([]any)
			if !isList {
				break
			}
			elementSchema, meta, err := schema.LookupPatchMetadataForSlice(name)
			if err != nil {
				return nil, err
			}
			// Only finalizers are a list without a key, which merges as a set. The fields of a box do not render any.
			if !slices.Contains(meta.GetPatchStrategies(), mergeStrategy) || meta.GetPatchMergeKey() == "" {
				break
			}
			if original[name], err = mergeLists(value, patchValue, elementSchema, meta.GetPatchMergeKey()); err != nil {
				return nil, inField(name, err)
			}
			continue
		}
		original[name] = patchValue
	}
	return original, nil
}

func inField(name string, err error) error {
	return fmt.Errorf("%s: %w", name, err)
}

// element is an element of a list to merge.
type element struct {
	value any
	// place and patchPlace are the indexes of the first element with the same identity in the original and in the patch, or -1.
	place, patchPlace int
}

// mergeLists merges each element of the patch into the first element of the original with the same value of the key. It adds the
// elements without a match to the list.
func mergeLists(original, patch []any, schema strategicpatch.LookupPatchMeta, key string) ([]any, error) {
	places, err := placesOf(original, key)
	if err != nil {
		return nil, err
	}
	patchPlaces, err := placesOf(patch, key)
	if err != nil {
		return nil, err
	}
	merged := slices.Clone(original)
	at := maps.Clone(places)
	for i, value := range patch {
		identity, _ := identityOf(value, key) // placesOf has checked it
		found, isThere := at[identity]
		if !isThere {
			at[identity] = len(merged)
			merged = append(merged, value)
			continue
		}
		// An element with a key is a map.
		if merged[found], err = merge(merged[found].(map[string]any), value.(map[string]any), schema); err != nil {
			return nil, fmt.Errorf("[%d]: %w", i, err)
		}
	}
	var patched, others []element
	for _, value := range merged {
		identity, _ := identityOf(value, key) // placesOf has checked it
		e := element{value: value, place: places.of(identity), patchPlace: patchPlaces.of(identity)}
		if e.patchPlace >= 0 {
			patched = append(patched, e)
		} else {
			others = append(others, e)
		}
	}
	return inOrder(patched, others), nil
}

// inOrder returns the elements of the patch in the order of the patch. It inserts the other elements in the order of the original:
// each one before the first element of the patch that followed it in the original.
func inOrder(patched, others []element) []any {
	slices.SortStableFunc(patched, func(a, b element) int { return a.patchPlace - b.patchPlace })
	slices.SortStableFunc(others, func(a, b element) int { return a.place - b.place })
	ordered := make([]any, 0, len(patched)+len(others))
	for len(patched) > 0 || len(others) > 0 {
		isOther := len(patched) == 0 ||
			len(others) > 0 && others[0].place >= 0 && patched[0].place >= 0 && others[0].place < patched[0].place
		from := &patched
		if isOther {
			from = &others
		}
		ordered = append(ordered, (*from)[0].value)
		*from = (*from)[1:]
	}
	return ordered
}

// places has the index of the first element of each identity in a list.
type places map[any]int

func placesOf(list []any, key string) (places, error) {
	p := make(places, len(list))
	for i, value := range list {
		identity, err := identityOf(value, key)
		if err != nil {
			return nil, fmt.Errorf("[%d]: %w", i, err)
		}
		if _, isKnown := p[identity]; !isKnown {
			p[identity] = i
		}
	}
	return p, nil
}

// of returns the index of the element, -1 if there is none.
func (p places) of(identity any) int {
	if place, isThere := p[identity]; isThere {
		return place
	}
	return -1
}

// identityOf returns the value of the key of an element, a string or a number.
func identityOf(value any, key string) (any, error) {
	fields, _ := value.(map[string]any)
	switch identity := fields[key].(type) {
	case string, int64:
		return identity, nil
	default:
		return nil, fmt.Errorf("must have %s", key)
	}
}
