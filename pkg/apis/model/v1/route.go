// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package v1

import (
	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// ModelBoxRoute is the HTTPRoute of a box, which routes HTTP from Gateways to the Service of the box.
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

	// rules are the rules of the HTTPRoute, as in gateway.networking.k8s.io/v1, instead of the rule that path, pathType and port
	// describe. A route with rules cannot have these fields. Defaults to none.
	//
	// Example: [{matches: [{path: /old}], requestRedirect: {path: {replacePrefixMatch: /new}}}, {timeouts: {request: 10s}}]
	// +optional
	// +listType=atomic
	// +k8s:optional
	// +k8s:validation:maxItems=16
	Rules []RouteRule `json:"rules,omitempty" protobuf:"bytes,6,rep,name=rules"`
}

// RouteRule is a rule of an HTTPRoute. Requests that match it go to the Service of the box, or are redirected.
type RouteRule struct {
	// matches are the requests of the rule: those that meet all conditions of at least one element. Defaults to all requests.
	//
	// Example: [{path: /api, method: GET}, {headers: [{name: x-version, value: beta}]}]
	// +optional
	// +listType=atomic
	// +k8s:optional
	// +k8s:validation:maxItems=64
	Matches []RouteMatch `json:"matches,omitempty" protobuf:"bytes,1,rep,name=matches"`

	// port is the number or the name of one of spec.ports with protocol TCP. Defaults to the first such port. The default is not
	// stored.
	//
	// Example: http
	// +optional
	// +k8s:opaqueType
	Port *intstr.IntOrString `json:"port,omitempty" protobuf:"bytes,2,opt,name=port"`

	// requestHeaderModifier changes the headers of requests before the pods get them. Defaults to none.
	//
	// Example: {set: [{name: x-forwarded-prefix, value: /api}], remove: [x-debug]}
	// +optional
	// +k8s:optional
	RequestHeaderModifier *RouteHeaderModifier `json:"requestHeaderModifier,omitempty" protobuf:"bytes,3,opt,name=requestHeaderModifier"`

	// responseHeaderModifier changes the headers of responses before clients get them. Defaults to none.
	//
	// Example: {set: [{name: strict-transport-security, value: max-age=31536000}]}
	// +optional
	// +k8s:optional
	ResponseHeaderModifier *RouteHeaderModifier `json:"responseHeaderModifier,omitempty" protobuf:"bytes,4,opt,name=responseHeaderModifier"`

	// requestRedirect answers requests with a redirect. The pods do not get the requests. It cannot be specified together with
	// port and urlRewrite. Defaults to none.
	//
	// Example: {scheme: https, statusCode: 301}
	// +optional
	// +k8s:optional
	RequestRedirect *RouteRequestRedirect `json:"requestRedirect,omitempty" protobuf:"bytes,5,opt,name=requestRedirect"`

	// urlRewrite changes the host and the path of requests before the pods get them. Defaults to none.
	//
	// Example: {path: {replacePrefixMatch: /}}
	// +optional
	// +k8s:optional
	URLRewrite *RouteURLRewrite `json:"urlRewrite,omitempty" protobuf:"bytes,6,opt,name=urlRewrite"`

	// timeouts are the timeouts of requests. Defaults to none, which means the timeouts of the Gateway.
	//
	// Example: {request: 10s}
	// +optional
	// +k8s:optional
	Timeouts *RouteTimeouts `json:"timeouts,omitempty" protobuf:"bytes,7,opt,name=timeouts"`
}

// RouteMatch has the conditions that a request must meet.
type RouteMatch struct {
	// path is the path of the requests. It begins with "/". Defaults to "/".
	//
	// Example: /api
	// +optional
	Path string `json:"path,omitempty" protobuf:"bytes,1,opt,name=path"`

	// pathType is the type of path: "Prefix" matches paths that begin with the elements of path, and "Exact" matches only path.
	// Defaults to "Prefix".
	//
	// Example: Exact
	// +optional
	// +k8s:opaqueType
	PathType networkingv1.PathType `json:"pathType,omitempty" protobuf:"bytes,2,opt,name=pathType,casttype=k8s.io/api/networking/v1.PathType"`

	// method is the HTTP method of the requests, in upper case. Defaults to none, which means any method.
	//
	// Example: GET
	// +optional
	Method string `json:"method,omitempty" protobuf:"bytes,3,opt,name=method"`

	// headers are headers that the requests must have. Defaults to none.
	//
	// Example: [{name: x-version, value: beta}]
	// +optional
	// +listType=map
	// +listMapKey=name
	// +k8s:optional
	// +k8s:validation:maxItems=16
	Headers []RouteValueMatch `json:"headers,omitempty" protobuf:"bytes,4,rep,name=headers"`

	// queryParams are query parameters that the requests must have. Defaults to none.
	//
	// Example: [{name: version, value: beta}]
	// +optional
	// +listType=map
	// +listMapKey=name
	// +k8s:optional
	// +k8s:validation:maxItems=16
	QueryParams []RouteValueMatch `json:"queryParams,omitempty" protobuf:"bytes,5,rep,name=queryParams"`
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
	// name is the name of the header, in any case, or of the query parameter. Required.
	//
	// Example: x-version
	Name string `json:"name" protobuf:"bytes,1,opt,name=name"`

	// value is the value that the request must have. Required.
	//
	// Example: beta
	Value string `json:"value" protobuf:"bytes,2,opt,name=value"`

	// type is "Exact", or "RegularExpression" with the syntax of the Gateway. Defaults to "Exact".
	//
	// Example: RegularExpression
	// +optional
	// +k8s:opaqueType
	Type RouteValueMatchType `json:"type,omitempty" protobuf:"bytes,3,opt,name=type,casttype=RouteValueMatchType"`
}

// RouteHeaderModifier changes the headers of requests or responses. A name may be in only one of the lists.
type RouteHeaderModifier struct {
	// set are headers that replace headers with the same name. Defaults to none.
	//
	// Example: [{name: x-forwarded-prefix, value: /api}]
	// +optional
	// +listType=map
	// +listMapKey=name
	// +k8s:optional
	// +k8s:validation:maxItems=16
	Set []RouteHeader `json:"set,omitempty" protobuf:"bytes,1,rep,name=set"`

	// add are headers that are added to headers with the same name. Defaults to none.
	//
	// Example: [{name: vary, value: accept-language}]
	// +optional
	// +listType=map
	// +listMapKey=name
	// +k8s:optional
	// +k8s:validation:maxItems=16
	Add []RouteHeader `json:"add,omitempty" protobuf:"bytes,2,rep,name=add"`

	// remove are the names of headers that are removed. Defaults to none.
	//
	// Example: [x-debug]
	// +optional
	// +listType=set
	// +k8s:optional
	// +k8s:validation:maxItems=16
	Remove []string `json:"remove,omitempty" protobuf:"bytes,3,rep,name=remove"`
}

// RouteHeader is a header with its value.
type RouteHeader struct {
	// name is the name of the header. Required.
	//
	// Example: vary
	Name string `json:"name" protobuf:"bytes,1,opt,name=name"`

	// value is the value of the header. Required.
	//
	// Example: accept-language
	Value string `json:"value" protobuf:"bytes,2,opt,name=value"`
}

// RouteRequestRedirect is a redirect of requests. All other parts of the URL stay as in the request.
type RouteRequestRedirect struct {
	// scheme is the scheme of the URL in the redirect, "http" or "https". Defaults to the scheme of the request.
	//
	// Example: https
	// +optional
	Scheme string `json:"scheme,omitempty" protobuf:"bytes,1,opt,name=scheme"`

	// hostname is the DNS name in the redirect, in lower case. Defaults to the host of the request.
	//
	// Example: www.example.com
	// +optional
	Hostname string `json:"hostname,omitempty" protobuf:"bytes,2,opt,name=hostname"`

	// path is the path in the redirect. Defaults to the path of the request.
	//
	// Example: {replaceFullPath: /closed}
	// +optional
	// +k8s:optional
	Path *RoutePathModifier `json:"path,omitempty" protobuf:"bytes,3,opt,name=path"`

	// port is the port number in the redirect. Defaults to the port of the scheme, or without a scheme to the port of the Gateway.
	//
	// Example: 8443
	// +optional
	// +k8s:opaqueType
	Port *int32 `json:"port,omitempty" protobuf:"varint,4,opt,name=port"`

	// statusCode is the HTTP status code of the response: 301, 302, 303, 307 or 308. Defaults to 302.
	//
	// Example: 301
	// +optional
	// +k8s:opaqueType
	StatusCode *int32 `json:"statusCode,omitempty" protobuf:"varint,5,opt,name=statusCode"`
}

// RouteURLRewrite changes the URL of requests before the pods get them.
type RouteURLRewrite struct {
	// hostname is the DNS name that replaces the host of the request, in lower case. Defaults to the host of the request.
	//
	// Example: shop.internal
	// +optional
	Hostname string `json:"hostname,omitempty" protobuf:"bytes,1,opt,name=hostname"`

	// path is the new path. Defaults to the path of the request.
	//
	// Example: {replacePrefixMatch: /}
	// +optional
	// +k8s:optional
	Path *RoutePathModifier `json:"path,omitempty" protobuf:"bytes,2,opt,name=path"`
}

// RoutePathModifier is a new path. It has exactly one of the fields.
type RoutePathModifier struct {
	// replaceFullPath replaces the whole path. Defaults to none.
	//
	// Example: /closed
	// +optional
	ReplaceFullPath *string `json:"replaceFullPath,omitempty" protobuf:"bytes,1,opt,name=replaceFullPath"`

	// replacePrefixMatch replaces the prefix that the request matches. The rule must have exactly one match, with pathType
	// "Prefix". Defaults to none.
	//
	// Example: /v2
	// +optional
	ReplacePrefixMatch *string `json:"replacePrefixMatch,omitempty" protobuf:"bytes,2,opt,name=replacePrefixMatch"`
}

// RouteTimeouts are durations with the units "h", "m", "s" and "ms". "0s" turns a timeout off.
type RouteTimeouts struct {
	// request is the time for a whole request, such as "10s" or "500ms". Defaults to the timeout of the Gateway.
	//
	// Example: 10s
	// +optional
	Request string `json:"request,omitempty" protobuf:"bytes,1,opt,name=request"`

	// backendRequest is the time for one request from the Gateway to a pod, at most request. A Gateway that tries again sends several
	// of them. Defaults to the timeout of the Gateway.
	//
	// Example: 2s
	// +optional
	BackendRequest string `json:"backendRequest,omitempty" protobuf:"bytes,2,opt,name=backendRequest"`
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
