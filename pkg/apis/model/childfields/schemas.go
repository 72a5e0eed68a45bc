// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package childfields

import (
	"fmt"
	"sync"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/client-go/applyconfigurations"
	kubescheme "k8s.io/client-go/kubernetes/scheme"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"
	applygateway "sigs.k8s.io/gateway-api/applyconfiguration"
	"sigs.k8s.io/structured-merge-diff/v6/schema"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/childkinds"
)

// objectType is the type of the objects of a kind.
type objectType struct {
	schema *schema.Schema
	ref    schema.TypeRef
}

// schemas returns the types of the kinds whose fields other field managers may own, by name. They are part of the program, so that
// an error occurs always or never.
var schemas = sync.OnceValue(func() map[string]objectType {
	gatewayScheme := runtime.NewScheme()
	utilruntime.Must(gatewayv1.Install(gatewayScheme))
	kube, gateway := applyconfigurations.NewTypeConverter(kubescheme.Scheme), applygateway.NewTypeConverter(gatewayScheme)
	types := map[string]objectType{}
	for _, kind := range childkinds.All() {
		if kind.IgnoreDrift == "" {
			continue
		}
		converter := kube
		if kind.Group == gatewayv1.GroupName {
			converter = gateway
		}
		object := &unstructured.Unstructured{}
		object.SetGroupVersionKind(kind.GroupVersionKind)
		typed, err := converter.ObjectToTyped(object)
		if err != nil {
			panic(fmt.Sprintf("reading the schema of %s: %v", kind.GroupVersionKind, err))
		}
		types[kind.Kind] = objectType{typed.Schema(), typed.TypeRef()}
	}
	return types
})
