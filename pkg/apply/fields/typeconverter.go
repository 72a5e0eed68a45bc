// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package fields

import (
	"sync"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/managedfields"
	"k8s.io/client-go/applyconfigurations"
	"k8s.io/client-go/kubernetes/scheme"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"
	applygateway "sigs.k8s.io/gateway-api/applyconfiguration"
	gatewayscheme "sigs.k8s.io/gateway-api/pkg/client/clientset/versioned/scheme"
	"sigs.k8s.io/structured-merge-diff/v6/typed"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	applymodel "github.com/sharelinuxs/modelbox-apiserver/pkg/generated/applyconfiguration"
	modelscheme "github.com/sharelinuxs/modelbox-apiserver/pkg/generated/clientset/versioned/scheme"
)

// typeConverter has the schemas of the kinds of children. groups has the schemas of the groups that are not in the API of
// Kubernetes.
type typeConverter struct {
	kube   func() managedfields.TypeConverter
	groups map[string]func() managedfields.TypeConverter
}

// NewTypeConverter returns a converter with the schemas of the kinds of Kubernetes, of this API and of gateway.networking.k8s.io.
// It parses schemas when they are needed, because the schemas of Kubernetes take a fifth of the start of the server.
func NewTypeConverter() managedfields.TypeConverter {
	return &typeConverter{
		kube: sync.OnceValue(func() managedfields.TypeConverter { return applyconfigurations.NewTypeConverter(scheme.Scheme) }),
		groups: map[string]func() managedfields.TypeConverter{
			modelv1.GroupName: sync.OnceValue(func() managedfields.TypeConverter { return applymodel.NewTypeConverter(modelscheme.Scheme) }),
			gatewayv1.GroupName: sync.OnceValue(func() managedfields.TypeConverter {
				return applygateway.NewTypeConverter(gatewayscheme.Scheme)
			}),
		},
	}
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
