// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package v1

import (
	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// ModelBoxIngress is the Ingress of a box, which leads HTTP from outside of the cluster to its Service.
type ModelBoxIngress struct {
	// hosts are the DNS names that clients ask for, in lower case; the first label may be "*". Defaults to none, which is
	// any name.
	//
	// Example: [shop.example.com]
	// +optional
	// +listType=set
	// +k8s:optional
	// +k8s:listType=set
	// +k8s:validation:maxItems=64
	Hosts []string `json:"hosts,omitempty" protobuf:"bytes,1,rep,name=hosts"`

	// path is what the paths of the requests match, as pathType says. It begins with "/" unless that is
	// "ImplementationSpecific". Defaults to "/".
	//
	// Example: /api
	// +optional
	Path string `json:"path,omitempty" protobuf:"bytes,2,opt,name=path"`

	// pathType is "Prefix" for the paths that begin with the elements of path, "Exact" for path alone, or
	// "ImplementationSpecific" for what the class makes of it. Defaults to "Prefix".
	//
	// Example: Exact
	// +optional
	// +k8s:opaqueType
	PathType networkingv1.PathType `json:"pathType,omitempty" protobuf:"bytes,3,opt,name=pathType,casttype=k8s.io/api/networking/v1.PathType"`

	// port is the number or the name of the one of spec.ports that the requests go to, which has protocol TCP. Defaults to
	// the first such port, which follows the ports and is not stored.
	//
	// Example: http
	// +optional
	// +k8s:opaqueType
	Port *intstr.IntOrString `json:"port,omitempty" protobuf:"bytes,4,opt,name=port"`

	// className is the IngressClass. Defaults to none, which is the cluster's default class.
	//
	// Example: nginx
	// +optional
	ClassName *string `json:"className,omitempty" protobuf:"bytes,5,opt,name=className"`

	// tls is the certificate of the hosts. Defaults to none, which is plain HTTP.
	//
	// Example: {secretName: shop-tls}
	// +optional
	// +k8s:optional
	TLS *ModelBoxIngressTLS `json:"tls,omitempty" protobuf:"bytes,6,opt,name=tls"`

	// annotations are further annotations of the Ingress, such as those that its class is configured by. Defaults to none.
	//
	// Example: {example.com/rate-limit: "10"}
	// +optional
	// +k8s:validation:maxProperties=1024
	Annotations map[string]string `json:"annotations,omitempty" protobuf:"bytes,7,rep,name=annotations"`
}

// ModelBoxIngressTLS is the certificate of the hosts of an Ingress.
type ModelBoxIngressTLS struct {
	// secretName is a Secret of type kubernetes.io/tls in the box's namespace. Defaults to none, which leaves the choice to
	// the class.
	//
	// Example: shop-tls
	// +optional
	// +k8s:optional
	// +k8s:format=k8s-long-name
	SecretName string `json:"secretName,omitempty" protobuf:"bytes,1,opt,name=secretName"`
}

// ModelBoxRoute is the HTTPRoute of a box, which leads HTTP from the Gateways that it names to the Service.
type ModelBoxRoute struct {
	// parentRefs are the Gateways, or other objects, that the route is attached to. Required.
	//
	// Example: [{name: public, namespace: gateways}]
	// +listType=atomic
	// +k8s:required
	// +k8s:validation:maxItems=32
	ParentRefs []RouteParentReference `json:"parentRefs" protobuf:"bytes,1,rep,name=parentRefs"`

	// hosts are the DNS names that clients request, in lower case. The first label may be "*". Defaults to none, which means the
	// hosts of the Gateways.
	//
	// Example: [shop.example.com]
	// +optional
	// +listType=set
	// +k8s:optional
	// +k8s:listType=set
	// +k8s:validation:maxItems=16
	Hosts []string `json:"hosts,omitempty" protobuf:"bytes,2,rep,name=hosts"`

	// path is what the paths of the requests match, as pathType says. It begins with "/". Defaults to "/".
	//
	// Example: /api
	// +optional
	Path string `json:"path,omitempty" protobuf:"bytes,3,opt,name=path"`

	// pathType is "Prefix" for the paths that begin with the elements of path, or "Exact" for path alone. Defaults to
	// "Prefix".
	//
	// Example: Exact
	// +optional
	// +k8s:opaqueType
	PathType networkingv1.PathType `json:"pathType,omitempty" protobuf:"bytes,4,opt,name=pathType,casttype=k8s.io/api/networking/v1.PathType"`

	// port is the number or the name of the one of spec.ports that the requests go to, which has protocol TCP. Defaults to
	// the first such port, which follows the ports and is not stored.
	//
	// Example: http
	// +optional
	// +k8s:opaqueType
	Port *intstr.IntOrString `json:"port,omitempty" protobuf:"bytes,5,opt,name=port"`
}

// RouteParentReference names an object that a route is attached to, as gateway.networking.k8s.io has it.
type RouteParentReference struct {
	// group is the API group of the object. Defaults to "gateway.networking.k8s.io".
	//
	// Example: gateway.networking.k8s.io
	// +optional
	Group string `json:"group,omitempty" protobuf:"bytes,1,opt,name=group"`

	// kind is the kind of the object. Defaults to "Gateway".
	//
	// Example: Gateway
	// +optional
	Kind string `json:"kind,omitempty" protobuf:"bytes,2,opt,name=kind"`

	// namespace is the namespace of the object. Defaults to the namespace of the box.
	//
	// Example: gateways
	// +optional
	// +k8s:optional
	// +k8s:format=k8s-short-name
	Namespace string `json:"namespace,omitempty" protobuf:"bytes,3,opt,name=namespace"`

	// name is the name of the object. Required.
	//
	// Example: public
	Name string `json:"name" protobuf:"bytes,4,opt,name=name"`

	// sectionName is the listener of a Gateway. Defaults to none, which is all that take the route.
	//
	// Example: https
	// +optional
	SectionName string `json:"sectionName,omitempty" protobuf:"bytes,5,opt,name=sectionName"`

	// port is the port number of the listener. Defaults to none, which is any.
	//
	// Example: 443
	// +optional
	Port *int32 `json:"port,omitempty" protobuf:"varint,6,opt,name=port"`
}
