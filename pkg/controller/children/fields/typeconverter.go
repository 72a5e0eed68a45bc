// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package fields

import (
	"sync"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/managedfields"
	"k8s.io/client-go/applyconfigurations"
	"k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/structured-merge-diff/v6/typed"
)

// typeConverter knows the schemas of kinds of Kubernetes, and of others by their groups.
type typeConverter struct {
	kube   func() managedfields.TypeConverter
	groups map[string]func() managedfields.TypeConverter
}

// NewTypeConverter returns what knows the schemas of the kinds of Kubernetes, and by their names those of other groups. None is
// made before it is needed: to read the schemas of Kubernetes takes a fifth of the start of the server.
func NewTypeConverter(groups map[string]func() managedfields.TypeConverter) managedfields.TypeConverter {
	c := &typeConverter{
		kube:   sync.OnceValue(func() managedfields.TypeConverter { return applyconfigurations.NewTypeConverter(scheme.Scheme) }),
		groups: map[string]func() managedfields.TypeConverter{},
	}
	for group, newConverter := range groups {
		c.groups[group] = sync.OnceValue(newConverter)
	}
	return c
}

// ObjectToTyped implements managedfields.TypeConverter.
func (c *typeConverter) ObjectToTyped(object runtime.Object, options ...typed.ValidationOptions) (*typed.TypedValue, error) {
	if group, isKnown := c.groups[object.GetObjectKind().GroupVersionKind().Group]; isKnown {
		return group().ObjectToTyped(object, options...)
	}
	return c.kube().ObjectToTyped(object, options...)
}

// TypedToObject implements managedfields.TypeConverter.
func (c *typeConverter) TypedToObject(value *typed.TypedValue) (runtime.Object, error) {
	return c.kube().TypedToObject(value)
}
