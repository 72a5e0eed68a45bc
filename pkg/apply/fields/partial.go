// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package fields

import (
	"cmp"
	"fmt"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
	"sigs.k8s.io/structured-merge-diff/v6/schema"
	"sigs.k8s.io/structured-merge-diff/v6/typed"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
)

// RenderHashPath is the path of the annotation of a child that says what was rendered.
var RenderHashPath = fieldpath.MakePathOrDie("metadata", "annotations", modelv1.RenderHashAnnotation)

// Without returns the render without contested fields, so that the apply leaves them as other managers have set them. It does not
// leave out an order of elements, or an element that is there twice, because the apply would remove them.
func (c *Comparer) Without(rendered *unstructured.Unstructured, live Object, contested *fieldpath.Set) (*unstructured.Unstructured, error) {
	if contested.Empty() {
		return rendered, nil
	}
	want, err := c.converter.ObjectToTyped(rendered)
	if err != nil {
		return nil, fmt.Errorf("reading the fields of the rendered %s: %w", rendered.GetKind(), err)
	}
	have, err := c.LiveFields(live)
	if err != nil {
		return nil, err
	}
	left := fieldpath.NewSet()
	contested.Iterate(func(path fieldpath.Path) {
		isThere := HasAny(have, path)
		if !path.Equals(RenderHashPath) && !(isThere && c.isAssociative(want, path)) {
			left.Insert(path.Copy())
		}
	})
	object, _ := dropNulls(want.RemoveItems(left).AsValue().Unstructured()).(map[string]any)
	return &unstructured.Unstructured{Object: object}, nil
}

// isAssociative returns whether the path leads to a list that is merged by keys, or to an element of such a list.
func (c *Comparer) isAssociative(of *typed.TypedValue, path fieldpath.Path) bool {
	walk := comparison{schema: of.Schema()}
	ref := of.TypeRef()
	for _, step := range path {
		if step.FieldName == nil {
			ref = elementType(walk.resolve(ref))
			continue
		}
		ref = fieldOf(walk.resolve(ref), *step.FieldName)
	}
	atom := walk.resolve(ref)
	return path[len(path)-1].FieldName == nil || atom.List != nil && atom.List.ElementRelationship == schema.Associative
}

// dropNulls removes what removing fields has left empty, and what that leaves empty in turn.
func dropNulls(value any) any {
	switch value := value.(type) {
	case map[string]any:
		before := len(value)
		for name, field := range value {
			if dropNulls(field) == nil {
				delete(value, name)
			}
		}
		if before > 0 && len(value) == 0 {
			return nil
		}
	case []any:
		for _, element := range value {
			dropNulls(element)
		}
	}
	return value
}

// Foreign returns the fields of the live object that other managers have set and neither the render nor the API sets, to be applied
// to another object of its name; nil if there are none.
func (c *Comparer) Foreign(live Object, rendered *unstructured.Unstructured, kept *fieldpath.Set) (*unstructured.Unstructured, error) {
	own, err := c.OwnedFields(rendered)
	if err != nil {
		return nil, err
	}
	all, err := c.LiveFields(live)
	if err != nil {
		return nil, err
	}
	theirs := fieldpath.NewSet()
	for i := range live.GetManagedFields() {
		entry := &live.GetManagedFields()[i]
		if IsOurs(entry) || entry.FieldsV1 == nil || entry.Subresource != "" {
			continue
		}
		managed, err := Decode(entry)
		if err != nil {
			return nil, err
		}
		theirs = theirs.Union(managed)
	}
	named, err := c.withNames(rendered, own)
	if err != nil {
		return nil, err
	}
	theirs = theirs.Intersection(all).Difference(named).Difference(Below(all, kept))
	carried := fieldpath.NewSet()
	theirs.Leaves().Iterate(func(path fieldpath.Path) {
		if isCarried(path) {
			carried.Insert(path.Copy())
		}
	})
	if carried.Empty() {
		return nil, nil
	}
	return c.extract(live, rendered, carried)
}

// Extract returns the fields that the live object has and the render leaves out, to be applied to another object of its name; nil
// if there are none.
func (c *Comparer) Extract(live Object, rendered *unstructured.Unstructured, fields *fieldpath.Set) (*unstructured.Unstructured, error) {
	own, err := c.OwnedFields(rendered)
	if err != nil {
		return nil, err
	}
	all, err := c.LiveFields(live)
	if err != nil {
		return nil, err
	}
	left := fields.Intersection(all).Difference(own)
	if left.Empty() {
		return nil, nil
	}
	return c.extract(live, rendered, left)
}

// extract returns the fields of the live object as an object of the kind and name of the rendered one.
func (c *Comparer) extract(live Object, rendered *unstructured.Unstructured, fields *fieldpath.Set) (*unstructured.Unstructured, error) {
	have, err := c.liveTyped(live)
	if err != nil {
		return nil, err
	}
	object, _ := dropNulls(have.ExtractItems(fields, typed.WithAppendKeyFields()).AsValue().Unstructured()).(map[string]any)
	extracted := &unstructured.Unstructured{Object: object}
	extracted.SetGroupVersionKind(rendered.GroupVersionKind())
	extracted.SetNamespace(rendered.GetNamespace())
	extracted.SetName(rendered.GetName())
	return extracted, nil
}

// Merge returns the first object with the fields of the second, which count where both have them. Either may be nil.
func (c *Comparer) Merge(object, over *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	if object == nil || over == nil {
		return cmp.Or(object, over), nil
	}
	base, err := c.converter.ObjectToTyped(object)
	if err != nil {
		return nil, fmt.Errorf("reading the fields of %s %s: %w", object.GetKind(), object.GetName(), err)
	}
	changes, err := c.converter.ObjectToTyped(over)
	if err != nil {
		return nil, fmt.Errorf("reading the fields of %s %s: %w", over.GetKind(), over.GetName(), err)
	}
	merged, err := base.Merge(changes)
	if err != nil {
		return nil, fmt.Errorf("merging %s %s: %w", object.GetKind(), object.GetName(), err)
	}
	fields, _ := merged.AsValue().Unstructured().(map[string]any)
	return &unstructured.Unstructured{Object: fields}, nil
}

// isCarried returns whether a field that another manager set on an object is to be set on the object that replaces it. It returns
// true for fields of the spec, for labels, and for annotations, except for those in which kubectl, the Deployment controller and
// the API of DaemonSets describe the replaced object.
func isCarried(path fieldpath.Path) bool {
	top := path[0].FieldName
	if top == nil || *top == "spec" {
		return top != nil
	}
	if *top != "metadata" || len(path) != 3 || path[1].FieldName == nil || path[2].FieldName == nil {
		return false
	}
	switch name := *path[2].FieldName; *path[1].FieldName {
	case "labels":
		return true
	case "annotations":
		return !strings.HasPrefix(name, "deployment.kubernetes.io/") && name != corev1.LastAppliedConfigAnnotation && name != appsv1.DeprecatedTemplateGeneration
	default:
		return false
	}
}
