// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package childfields

import (
	"fmt"
	"sync"

	appsv1 "k8s.io/api/apps/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	runtimeschema "k8s.io/apimachinery/pkg/runtime/schema"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/client-go/applyconfigurations"
	kubescheme "k8s.io/client-go/kubernetes/scheme"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"
	applygateway "sigs.k8s.io/gateway-api/applyconfiguration"
	"sigs.k8s.io/structured-merge-diff/v6/schema"
)

// objectType is the type of the objects of a kind.
type objectType struct {
	schema *schema.Schema
	ref    schema.TypeRef
}

// kinds are those of children that others may have fields of.
var kinds = []runtimeschema.GroupVersionKind{
	appsv1.SchemeGroupVersion.WithKind("Deployment"),
	appsv1.SchemeGroupVersion.WithKind("StatefulSet"),
	appsv1.SchemeGroupVersion.WithKind("DaemonSet"),
	corev1.SchemeGroupVersion.WithKind("Service"),
	networkingv1.SchemeGroupVersion.WithKind("Ingress"),
	gatewayv1.SchemeGroupVersion.WithKind("HTTPRoute"),
	autoscalingv2.SchemeGroupVersion.WithKind("HorizontalPodAutoscaler"),
	policyv1.SchemeGroupVersion.WithKind("PodDisruptionBudget"),
}

// schemas returns the types of all kinds by their names. They are built in, so that reading them fails never or always.
var schemas = sync.OnceValue(func() map[string]objectType {
	gatewayScheme := runtime.NewScheme()
	utilruntime.Must(gatewayv1.Install(gatewayScheme))
	kube, gateway := applyconfigurations.NewTypeConverter(kubescheme.Scheme), applygateway.NewTypeConverter(gatewayScheme)
	types := map[string]objectType{}
	for _, kind := range kinds {
		converter := kube
		if kind.Group == gatewayv1.GroupName {
			converter = gateway
		}
		object := &unstructured.Unstructured{}
		object.SetGroupVersionKind(kind)
		typed, err := converter.ObjectToTyped(object)
		if err != nil {
			panic(fmt.Sprintf("reading the schema of %s: %v", kind, err))
		}
		types[kind.Kind] = objectType{typed.Schema(), typed.TypeRef()}
	}
	return types
})
