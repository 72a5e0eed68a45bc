// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package fields

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
	"sigs.k8s.io/structured-merge-diff/v6/schema"
)

// ForeignNear returns the live fields that the render leaves out and that are nearest to those an error is about: below
// one of them, or else in the struct that it is in, and so on up to the fields of the spec.
func (c *Comparer) ForeignNear(invalid error, rendered *unstructured.Unstructured, live Object) (*fieldpath.Set, error) {
	var status apierrors.APIStatus
	if !errors.As(invalid, &status) || status.Status().Details == nil {
		return noFields(), nil
	}
	want, err := c.converter.ObjectToTyped(rendered)
	if err != nil {
		return nil, fmt.Errorf("reading the fields of the rendered %s: %w", rendered.GetKind(), err)
	}
	have, err := c.liveTyped(live)
	if err != nil {
		return nil, err
	}
	merged, err := have.Merge(want)
	if err != nil {
		return nil, fmt.Errorf("merging the rendered %s: %w", rendered.GetKind(), err)
	}
	all, err := c.LiveFields(live)
	if err != nil {
		return nil, err
	}
	own, err := c.OwnedFields(rendered)
	if err != nil {
		return nil, err
	}
	foreign := all.Difference(own.EnsureNamedFieldsAreMembers(want.Schema(), want.TypeRef()))
	near := noFields()
	for _, cause := range status.Status().Details.Causes {
		path := c.resolvePath(merged.Schema(), merged.TypeRef(), merged.AsValue().Unstructured(), cause.Field)
		for ; len(path) > 1; path = path[:len(path)-1] {
			if found := inside(foreign, path); !found.Empty() {
				near = near.Union(found)
				break
			}
		}
	}
	return near, nil
}

// inside returns the fields of the set that are at the path or below it.
func inside(set *fieldpath.Set, path fieldpath.Path) *fieldpath.Set {
	found := Below(set, fieldpath.NewSet(path))
	if !set.Has(path) {
		found = found.Difference(fieldpath.NewSet(path))
	}
	return found
}

// resolvePath turns a field as errors name it, such as spec.ports[0].name, into the path of that field in the object,
// as far as the object has it.
func (c *Comparer) resolvePath(types *schema.Schema, ref schema.TypeRef, object any, field string) fieldpath.Path {
	walk := comparison{schema: types}
	var path fieldpath.Path
	for _, step := range strings.FieldsFunc(field, func(r rune) bool { return r == '.' || r == '[' }) {
		atom := walk.resolve(ref)
		switch value := object.(type) {
		case map[string]any:
			name := strings.TrimSuffix(step, "]")
			path, object, ref = append(path, fieldpath.PathElement{FieldName: &name}), value[name], fieldOf(atom, name)
		case []any:
			i, err := strconv.Atoi(strings.TrimSuffix(step, "]"))
			if err != nil || i < 0 || i >= len(value) || isAtomic(atom) {
				return path
			}
			path, object, ref = append(path, walk.elementOf(atom, value[i])), value[i], atom.List.ElementType
		default:
			return path
		}
	}
	return path
}
