// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package v1

import "k8s.io/apimachinery/pkg/util/intstr"

// ModelBoxGRPCRoute is the GRPCRoute of a box, which routes gRPC from Gateways to the Service of the box.
type ModelBoxGRPCRoute struct {
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
	// Example: [greeter.example.com]
	// +optional
	// +listType=set
	// +k8s:optional
	// +k8s:listType=set
	// +k8s:validation:maxItems=16
	Hosts []string `json:"hosts,omitempty" protobuf:"bytes,2,rep,name=hosts"`

	// port is the number or the name of one of spec.ports with protocol TCP. A route with rules cannot have this field. Defaults to
	// the first such port. The default is not stored.
	//
	// Example: grpc
	// +optional
	// +k8s:opaqueType
	Port *intstr.IntOrString `json:"port,omitempty" protobuf:"bytes,3,opt,name=port"`

	// rules are the rules of the GRPCRoute, as in gateway.networking.k8s.io/v1. Defaults to one rule, which sends all requests to
	// port.
	//
	// Example: [{matches: [{method: {service: shop.Cart}}], port: grpc}]
	// +optional
	// +listType=atomic
	// +k8s:optional
	// +k8s:validation:maxItems=16
	Rules []GRPCRouteRule `json:"rules,omitempty" protobuf:"bytes,4,rep,name=rules"`
}

// GRPCRouteRule is a rule of a GRPCRoute. Requests that match it go to the Service of the box.
type GRPCRouteRule struct {
	// matches are the requests of the rule: those that meet all conditions of at least one element. Defaults to all requests.
	//
	// Example: [{method: {service: shop.Cart}}, {headers: [{name: x-version, value: beta}]}]
	// +optional
	// +listType=atomic
	// +k8s:optional
	// +k8s:validation:maxItems=64
	Matches []GRPCRouteMatch `json:"matches,omitempty" protobuf:"bytes,1,rep,name=matches"`

	// port is the number or the name of one of spec.ports with protocol TCP. Defaults to the first such port. The default is not
	// stored.
	//
	// Example: grpc
	// +optional
	// +k8s:opaqueType
	Port *intstr.IntOrString `json:"port,omitempty" protobuf:"bytes,2,opt,name=port"`

	// requestHeaderModifier changes the headers of requests before the pods get them. Defaults to none.
	//
	// Example: {set: [{name: x-tenant, value: example}], remove: [x-debug]}
	// +optional
	// +k8s:optional
	RequestHeaderModifier *RouteHeaderModifier `json:"requestHeaderModifier,omitempty" protobuf:"bytes,3,opt,name=requestHeaderModifier"`

	// responseHeaderModifier changes the headers of responses before clients get them. Defaults to none.
	//
	// Example: {remove: [x-debug]}
	// +optional
	// +k8s:optional
	ResponseHeaderModifier *RouteHeaderModifier `json:"responseHeaderModifier,omitempty" protobuf:"bytes,4,opt,name=responseHeaderModifier"`
}

// GRPCRouteMatch has the conditions that a request must meet.
type GRPCRouteMatch struct {
	// method is the gRPC service and method of the requests. Defaults to any.
	//
	// Example: {service: shop.Cart, method: Checkout}
	// +optional
	// +k8s:optional
	Method *GRPCMethodMatch `json:"method,omitempty" protobuf:"bytes,1,opt,name=method"`

	// headers are headers that the requests must have. Defaults to none.
	//
	// Example: [{name: x-version, value: beta}]
	// +optional
	// +listType=map
	// +listMapKey=name
	// +k8s:optional
	// +k8s:validation:maxItems=16
	Headers []RouteValueMatch `json:"headers,omitempty" protobuf:"bytes,2,rep,name=headers"`
}

// GRPCMethodMatch is a gRPC service, a method, or both.
type GRPCMethodMatch struct {
	// service is the full name of the gRPC service. Defaults to none, which means any service.
	//
	// Example: shop.Cart
	// +optional
	Service string `json:"service,omitempty" protobuf:"bytes,1,opt,name=service"`

	// method is the name of the method. Defaults to none, which means any method.
	//
	// Example: Checkout
	// +optional
	Method string `json:"method,omitempty" protobuf:"bytes,2,opt,name=method"`

	// type is "Exact", or "RegularExpression" with the syntax of the Gateway. Defaults to "Exact".
	//
	// Example: RegularExpression
	// +optional
	// +k8s:opaqueType
	Type RouteValueMatchType `json:"type,omitempty" protobuf:"bytes,3,opt,name=type,casttype=RouteValueMatchType"`
}

// IsRouted returns whether Gateways route requests to the Service of the box.
func (spec *ModelBoxSpec) IsRouted() bool { return spec.Route != nil || spec.GRPCRoute != nil }
