// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package children

import (
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/managedfields"
	"k8s.io/client-go/applyconfigurations"
	"k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/structured-merge-diff/v6/typed"
)

// typeConverter knows the schemas of kinds of Kubernetes, and of others by their groups.
type typeConverter struct {
	kube   managedfields.TypeConverter
	groups map[string]managedfields.TypeConverter
}

// NewTypeConverter returns what knows the schemas of the kinds of Kubernetes, and by their names those of other groups.
func NewTypeConverter(groups map[string]managedfields.TypeConverter) managedfields.TypeConverter {
	return &typeConverter{applyconfigurations.NewTypeConverter(scheme.Scheme), groups}
}

// ObjectToTyped implements managedfields.TypeConverter.
func (c *typeConverter) ObjectToTyped(object runtime.Object, options ...typed.ValidationOptions) (*typed.TypedValue, error) {
	if group, isKnown := c.groups[object.GetObjectKind().GroupVersionKind().Group]; isKnown {
		return group.ObjectToTyped(object, options...)
	}
	return c.kube.ObjectToTyped(object, options...)
}

// TypedToObject implements managedfields.TypeConverter.
func (c *typeConverter) TypedToObject(value *typed.TypedValue) (runtime.Object, error) {
	return c.kube.TypedToObject(value)
}
