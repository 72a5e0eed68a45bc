// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package modelbox

import (
	"fmt"
	"strconv"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/registry/generic"
	"k8s.io/apiserver/pkg/storage"
	"k8s.io/client-go/tools/cache"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/helper"
	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
)

// GetAttrs returns the labels and fields that a box is selected by.
func GetAttrs(obj runtime.Object) (labels.Set, fields.Set, error) {
	box, ok := obj.(*model.ModelBox)
	if !ok {
		return nil, nil, fmt.Errorf("expected a ModelBox, got %T", obj)
	}
	return box.Labels, selectableFields(box), nil
}

// Match returns the predicate of a list or a watch that selects by label and field.
func Match(label labels.Selector, field fields.Selector) storage.SelectionPredicate {
	return storage.SelectionPredicate{Label: label, Field: field, GetAttrs: GetAttrs, IndexFields: narrowingFields(field)}
}

// indexedFields are the selectable fields that the watch cache has an index of: those whose selection leaves a few
// boxes of many, namely the ones of an image and the ones that are not ready.
var indexedFields = []string{"spec.image", "status.ready"}

// narrowingFields returns the indexed fields that a list with the selector is to look up. To find the many boxes that
// are ready, the index would take longer than looking at all.
func narrowingFields(selector fields.Selector) []string {
	if value, isExact := selector.RequiresExactMatch("status.ready"); isExact && value == "true" {
		return []string{"spec.image"}
	}
	return indexedFields
}

// Indexers returns the indexes of the watch cache.
func Indexers() *cache.Indexers {
	indexers := cache.Indexers{}
	for _, name := range indexedFields {
		indexers[storage.FieldIndex(name)] = func(obj any) ([]string, error) {
			box, ok := obj.(*model.ModelBox)
			if !ok {
				return nil, fmt.Errorf("expected a ModelBox, got %T", obj)
			}
			return []string{selectableFields(box)[name]}, nil
		}
	}
	return &indexers
}

// selectableFields has one entry for each label that the served version's field label conversion accepts.
func selectableFields(box *model.ModelBox) fields.Set {
	return generic.AddObjectMetaFieldsSet(fields.Set{
		"spec.image":       box.Spec.Image,
		"spec.serviceType": string(helper.EffectiveServiceType(box.Spec.ServiceType, box.Spec.Ports)),
		"spec.workload":    string(box.Spec.Workload),
		"status.ready":     strconv.FormatBool(meta.IsStatusConditionTrue(box.Status.Conditions, modelv1.ConditionReady)),
	}, &box.ObjectMeta, true)
}
