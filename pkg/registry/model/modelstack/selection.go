// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package modelstack

import (
	"fmt"
	"strconv"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/registry/generic"
	"k8s.io/apiserver/pkg/storage"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model"
	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
)

// GetAttrs returns the labels and fields that a stack is selected by.
func GetAttrs(obj runtime.Object) (labels.Set, fields.Set, error) {
	stack, ok := obj.(*model.ModelStack)
	if !ok {
		return nil, nil, fmt.Errorf("expected a ModelStack, got %T", obj)
	}
	return stack.Labels, selectableFields(stack), nil
}

// Match returns the predicate of a list or a watch that selects by label and field.
func Match(label labels.Selector, field fields.Selector) storage.SelectionPredicate {
	return storage.SelectionPredicate{Label: label, Field: field, GetAttrs: GetAttrs}
}

// selectableFields has one entry for each label that the served version's field label conversion accepts.
func selectableFields(stack *model.ModelStack) fields.Set {
	return generic.AddObjectMetaFieldsSet(fields.Set{
		"status.ready": strconv.FormatBool(meta.IsStatusConditionTrue(stack.Status.Conditions, modelv1.ConditionReady)),
	}, &stack.ObjectMeta, true)
}
