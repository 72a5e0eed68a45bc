// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package model

import (
	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// ModelBoxRoute is the HTTPRoute of a box, which routes HTTP from Gateways to the Service of the box.
type ModelBoxRoute struct {
	ParentRefs []RouteParentReference
	Hosts      []string
	Path       string
	PathType   networkingv1.PathType
	Port       *intstr.IntOrString
	Rules      []RouteRule
}

// RouteRule is a rule of an HTTPRoute. Requests that match it go to the Service of the box, or are redirected.
type RouteRule struct {
	Matches                []RouteMatch
	Port                   *intstr.IntOrString
	RequestHeaderModifier  *RouteHeaderModifier
	ResponseHeaderModifier *RouteHeaderModifier
	RequestRedirect        *RouteRequestRedirect
	URLRewrite             *RouteURLRewrite
	Timeouts               *RouteTimeouts
}

// RouteMatch has the conditions that a request must meet.
type RouteMatch struct {
	Path        string
	PathType    networkingv1.PathType
	Method      string
	Headers     []RouteValueMatch
	QueryParams []RouteValueMatch
}

// RouteValueMatchType is how a value is compared.
type RouteValueMatchType string

const (
	// RouteValueMatchExact compares the whole value.
	RouteValueMatchExact RouteValueMatchType = "Exact"
	// RouteValueMatchRegularExpression matches the value with a regular expression. Its syntax depends on the Gateway.
	RouteValueMatchRegularExpression RouteValueMatchType = "RegularExpression"
)

// RouteValueMatch is a header or a query parameter that a request must have.
type RouteValueMatch struct {
	Name  string
	Value string
	Type  RouteValueMatchType
}

// RouteHeaderModifier changes the headers of requests or responses. A name may be in only one of the lists.
type RouteHeaderModifier struct {
	Set    []RouteHeader
	Add    []RouteHeader
	Remove []string
}

// RouteHeader is a header with its value.
type RouteHeader struct {
	Name  string
	Value string
}

// RouteRequestRedirect is a redirect of requests. All other parts of the URL stay as in the request.
type RouteRequestRedirect struct {
	Scheme     string
	Hostname   string
	Path       *RoutePathModifier
	Port       *int32
	StatusCode *int32
}

// RouteURLRewrite changes the URL of requests before the pods get them.
type RouteURLRewrite struct {
	Hostname string
	Path     *RoutePathModifier
}

// RoutePathModifier is a new path. It has exactly one of the fields.
type RoutePathModifier struct {
	ReplaceFullPath    *string
	ReplacePrefixMatch *string
}

// RouteTimeouts are durations with the units "h", "m", "s" and "ms". "0s" turns a timeout off.
type RouteTimeouts struct {
	Request        string
	BackendRequest string
}

// RouteParentReference names an object that a route is attached to, as gateway.networking.k8s.io has it.
type RouteParentReference struct {
	Group       string
	Kind        string
	Namespace   string
	Name        string
	SectionName string
	Port        *int32
}
