// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package apiserver

import (
	"fmt"
	"sync"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/managedfields"
	genericapiserver "k8s.io/apiserver/pkg/server"
	"sigs.k8s.io/structured-merge-diff/v6/typed"
)

// groupTypeConverter is the type converter of the kinds of an API group, made when it is first used: few subresources
// change what they belong to, and the group's schema takes a tenth of the start of the server.
type groupTypeConverter struct {
	get func() (managedfields.TypeConverter, error)
}

var _ managedfields.TypeConverter = &groupTypeConverter{}

// newGroupTypeConverter returns the type converter of a group that is installed before it is used.
func newGroupTypeConverter(group *genericapiserver.APIGroupInfo) *groupTypeConverter {
	return &groupTypeConverter{sync.OnceValues(func() (managedfields.TypeConverter, error) {
		converter, err := managedfields.NewTypeConverter(group.StaticOpenAPISpec, false)
		if err != nil {
			return nil, fmt.Errorf("reading the OpenAPI definitions of the API group: %w", err)
		}
		return converter, nil
	})}
}

// ObjectToTyped implements managedfields.TypeConverter.
func (c *groupTypeConverter) ObjectToTyped(object runtime.Object, options ...typed.ValidationOptions) (*typed.TypedValue, error) {
	converter, err := c.get()
	if err != nil {
		return nil, err
	}
	return converter.ObjectToTyped(object, options...)
}

// TypedToObject implements managedfields.TypeConverter.
func (c *groupTypeConverter) TypedToObject(value *typed.TypedValue) (runtime.Object, error) {
	converter, err := c.get()
	if err != nil {
		return nil, err
	}
	return converter.TypedToObject(value)
}
