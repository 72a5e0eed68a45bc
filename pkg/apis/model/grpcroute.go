// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package model

import "k8s.io/apimachinery/pkg/util/intstr"

// ModelBoxGRPCRoute is the GRPCRoute of a box, which routes gRPC from Gateways to the Service of the box.
type ModelBoxGRPCRoute struct {
	ParentRefs []RouteParentReference
	Hosts      []string
	Port       *intstr.IntOrString
	Rules      []GRPCRouteRule
}

// GRPCRouteRule is a rule of a GRPCRoute. Requests that match it go to the Service of the box.
type GRPCRouteRule struct {
	Matches                []GRPCRouteMatch
	Port                   *intstr.IntOrString
	RequestHeaderModifier  *RouteHeaderModifier
	ResponseHeaderModifier *RouteHeaderModifier
}

// GRPCRouteMatch has the conditions that a request must meet.
type GRPCRouteMatch struct {
	Method  *GRPCMethodMatch
	Headers []RouteValueMatch
}

// GRPCMethodMatch is a gRPC service, a method, or both.
type GRPCMethodMatch struct {
	Service string
	Method  string
	Type    RouteValueMatchType
}

// IsRouted returns whether Gateways route requests to the Service of the box.
func (spec *ModelBoxSpec) IsRouted() bool { return spec.Route != nil || spec.GRPCRoute != nil }
