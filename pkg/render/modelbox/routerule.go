// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package modelbox

import (
	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"
	applygatewayv1 "sigs.k8s.io/gateway-api/applyconfiguration/apis/v1"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/helper"
	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
)

// routeRules returns the rules of a route, or the only rule of a route without rules.
func routeRules(route *modelv1.ModelBoxRoute) []modelv1.RouteRule {
	if len(route.Rules) > 0 {
		return route.Rules
	}
	return []modelv1.RouteRule{{
		Matches: []modelv1.RouteMatch{{Path: route.Path, PathType: route.PathType}},
		Port:    route.Port,
	}}
}

// httpRouteRule sets the defaults of the API server, because the rules are compared with the live rules as a whole.
func httpRouteRule(box *modelv1.ModelBox, rule *modelv1.RouteRule, candidateWeight int32) *applygatewayv1.HTTPRouteRuleApplyConfiguration {
	applied := applygatewayv1.HTTPRouteRule()
	for i := range rule.Matches {
		applied.WithMatches(routeMatch(&rule.Matches[i]))
	}
	if len(rule.Matches) == 0 {
		applied.WithMatches(routeMatch(&modelv1.RouteMatch{Path: "/"}))
	}
	applied.WithFilters(routeFilters(rule)...)
	if timeouts := rule.Timeouts; timeouts != nil {
		applied.WithTimeouts(routeTimeouts(timeouts))
	}
	if rule.RequestRedirect != nil {
		return applied
	}
	for _, backend := range backends(box, rule.Port, candidateWeight) {
		applied.WithBackendRefs(&applygatewayv1.HTTPBackendRefApplyConfiguration{BackendRefApplyConfiguration: *backend})
	}
	return applied
}

func routeMatch(match *modelv1.RouteMatch) *applygatewayv1.HTTPRouteMatchApplyConfiguration {
	pathType := gatewayv1.PathMatchPathPrefix
	if match.PathType == networkingv1.PathTypeExact {
		pathType = gatewayv1.PathMatchExact
	}
	applied := applygatewayv1.HTTPRouteMatch().WithPath(applygatewayv1.HTTPPathMatch().WithType(pathType).WithValue(match.Path))
	if match.Method != "" {
		applied.WithMethod(gatewayv1.HTTPMethod(match.Method))
	}
	for _, header := range match.Headers {
		applied.WithHeaders(applygatewayv1.HTTPHeaderMatch().
			WithType(gatewayv1.HeaderMatchType(header.Type)).WithName(gatewayv1.HTTPHeaderName(header.Name)).WithValue(header.Value))
	}
	for _, param := range match.QueryParams {
		applied.WithQueryParams(applygatewayv1.HTTPQueryParamMatch().
			WithType(gatewayv1.QueryParamMatchType(param.Type)).WithName(gatewayv1.HTTPHeaderName(param.Name)).WithValue(param.Value))
	}
	return applied
}

func routeFilters(rule *modelv1.RouteRule) []*applygatewayv1.HTTPRouteFilterApplyConfiguration {
	var filters []*applygatewayv1.HTTPRouteFilterApplyConfiguration
	add := func(filterType gatewayv1.HTTPRouteFilterType) *applygatewayv1.HTTPRouteFilterApplyConfiguration {
		filters = append(filters, applygatewayv1.HTTPRouteFilter().WithType(filterType))
		return filters[len(filters)-1]
	}
	if rule.RequestHeaderModifier != nil {
		add(gatewayv1.HTTPRouteFilterRequestHeaderModifier).WithRequestHeaderModifier(headerFilter(rule.RequestHeaderModifier))
	}
	if rule.ResponseHeaderModifier != nil {
		add(gatewayv1.HTTPRouteFilterResponseHeaderModifier).WithResponseHeaderModifier(headerFilter(rule.ResponseHeaderModifier))
	}
	if rule.RequestRedirect != nil {
		add(gatewayv1.HTTPRouteFilterRequestRedirect).WithRequestRedirect(requestRedirect(rule.RequestRedirect))
	}
	if rule.URLRewrite != nil {
		add(gatewayv1.HTTPRouteFilterURLRewrite).WithURLRewrite(urlRewrite(rule.URLRewrite))
	}
	return filters
}

func headerFilter(modifier *modelv1.RouteHeaderModifier) *applygatewayv1.HTTPHeaderFilterApplyConfiguration {
	filter := applygatewayv1.HTTPHeaderFilter().WithRemove(modifier.Remove...)
	for _, header := range modifier.Set {
		filter.WithSet(httpHeader(header))
	}
	for _, header := range modifier.Add {
		filter.WithAdd(httpHeader(header))
	}
	return filter
}

func httpHeader(header modelv1.RouteHeader) *applygatewayv1.HTTPHeaderApplyConfiguration {
	return applygatewayv1.HTTPHeader().WithName(gatewayv1.HTTPHeaderName(header.Name)).WithValue(header.Value)
}

func requestRedirect(redirect *modelv1.RouteRequestRedirect) *applygatewayv1.HTTPRequestRedirectFilterApplyConfiguration {
	filter := applygatewayv1.HTTPRequestRedirectFilter()
	if redirect.Scheme != "" {
		filter.WithScheme(redirect.Scheme)
	}
	if redirect.Hostname != "" {
		filter.WithHostname(gatewayv1.PreciseHostname(redirect.Hostname))
	}
	if redirect.Path != nil {
		filter.WithPath(pathModifier(redirect.Path))
	}
	if redirect.Port != nil {
		filter.WithPort(*redirect.Port)
	}
	if redirect.StatusCode != nil {
		filter.WithStatusCode(int(*redirect.StatusCode))
	}
	return filter
}

func urlRewrite(rewrite *modelv1.RouteURLRewrite) *applygatewayv1.HTTPURLRewriteFilterApplyConfiguration {
	filter := applygatewayv1.HTTPURLRewriteFilter()
	if rewrite.Hostname != "" {
		filter.WithHostname(gatewayv1.PreciseHostname(rewrite.Hostname))
	}
	if rewrite.Path != nil {
		filter.WithPath(pathModifier(rewrite.Path))
	}
	return filter
}

func pathModifier(modifier *modelv1.RoutePathModifier) *applygatewayv1.HTTPPathModifierApplyConfiguration {
	if modifier.ReplaceFullPath != nil {
		return applygatewayv1.HTTPPathModifier().WithType(gatewayv1.FullPathHTTPPathModifier).WithReplaceFullPath(*modifier.ReplaceFullPath)
	}
	return applygatewayv1.HTTPPathModifier().WithType(gatewayv1.PrefixMatchHTTPPathModifier).WithReplacePrefixMatch(*modifier.ReplacePrefixMatch)
}

func routeTimeouts(timeouts *modelv1.RouteTimeouts) *applygatewayv1.HTTPRouteTimeoutsApplyConfiguration {
	applied := applygatewayv1.HTTPRouteTimeouts()
	if timeouts.Request != "" {
		applied.WithRequest(gatewayv1.Duration(timeouts.Request))
	}
	if timeouts.BackendRequest != "" {
		applied.WithBackendRequest(gatewayv1.Duration(timeouts.BackendRequest))
	}
	return applied
}

// backends are the Services that get the requests of a rule with the port.
func backends(box *modelv1.ModelBox, wanted *intstr.IntOrString, candidateWeight int32) []*applygatewayv1.BackendRefApplyConfiguration {
	port := httpPort(box, wanted)
	if candidateWeight == 0 {
		return []*applygatewayv1.BackendRefApplyConfiguration{backend(box.Name, port, 1)}
	}
	return []*applygatewayv1.BackendRefApplyConfiguration{
		backend(box.Name, port, 100-candidateWeight),
		backend(helper.CandidateName(box.Name), port, candidateWeight),
	}
}

// backend is a Service that gets its share of the sum of all weights.
func backend(service string, port, weight int32) *applygatewayv1.BackendRefApplyConfiguration {
	return applygatewayv1.BackendRef().
		WithKind("Service").
		WithName(gatewayv1.ObjectName(service)).
		WithPort(port).
		WithWeight(weight)
}
