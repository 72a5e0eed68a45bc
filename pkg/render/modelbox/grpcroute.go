// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package modelbox

import (
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"
	applygatewayv1 "sigs.k8s.io/gateway-api/applyconfiguration/apis/v1"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/render"
)

// grpcRoute returns the GRPCRoute of a box. Like an Ingress, it does not have the annotations of all children.
// candidateWeight is the percentage of the traffic for the candidate.
func grpcRoute(box *modelv1.ModelBox, candidateWeight int32) *applygatewayv1.GRPCRouteApplyConfiguration {
	options := box.Spec.GRPCRoute
	spec := applygatewayv1.GRPCRouteSpec()
	for _, rule := range grpcRouteRules(options) {
		spec.WithRules(grpcRouteRule(box, &rule, candidateWeight))
	}
	for i := range options.ParentRefs {
		spec.WithParentRefs(parentReference(&options.ParentRefs[i]))
	}
	for _, host := range options.Hosts {
		spec.WithHostnames(gatewayv1.Hostname(host))
	}
	return applygatewayv1.GRPCRoute(box.Name, box.Namespace).
		WithLabels(labels(box)).
		WithOwnerReferences(render.OwnerReference(box, Kind)).
		WithSpec(spec)
}

// grpcRouteRules returns the rules of a route, or the only rule of a route without rules.
func grpcRouteRules(route *modelv1.ModelBoxGRPCRoute) []modelv1.GRPCRouteRule {
	if len(route.Rules) > 0 {
		return route.Rules
	}
	return []modelv1.GRPCRouteRule{{Port: route.Port}}
}

func grpcRouteRule(box *modelv1.ModelBox, rule *modelv1.GRPCRouteRule, candidateWeight int32) *applygatewayv1.GRPCRouteRuleApplyConfiguration {
	applied := applygatewayv1.GRPCRouteRule()
	for i := range rule.Matches {
		applied.WithMatches(grpcRouteMatch(&rule.Matches[i]))
	}
	if rule.RequestHeaderModifier != nil {
		applied.WithFilters(applygatewayv1.GRPCRouteFilter().
			WithType(gatewayv1.GRPCRouteFilterRequestHeaderModifier).WithRequestHeaderModifier(headerFilter(rule.RequestHeaderModifier)))
	}
	if rule.ResponseHeaderModifier != nil {
		applied.WithFilters(applygatewayv1.GRPCRouteFilter().
			WithType(gatewayv1.GRPCRouteFilterResponseHeaderModifier).WithResponseHeaderModifier(headerFilter(rule.ResponseHeaderModifier)))
	}
	for _, backend := range backends(box, rule.Port, candidateWeight) {
		applied.WithBackendRefs(&applygatewayv1.GRPCBackendRefApplyConfiguration{BackendRefApplyConfiguration: *backend})
	}
	return applied
}

// grpcRouteMatch sets the defaults of the API server, because the rules are compared with the live rules as a whole.
func grpcRouteMatch(match *modelv1.GRPCRouteMatch) *applygatewayv1.GRPCRouteMatchApplyConfiguration {
	applied := applygatewayv1.GRPCRouteMatch()
	if method := match.Method; method != nil {
		applied.WithMethod(grpcMethodMatch(method))
	}
	for _, header := range match.Headers {
		applied.WithHeaders(applygatewayv1.GRPCHeaderMatch().
			WithType(gatewayv1.GRPCHeaderMatchType(header.Type)).WithName(gatewayv1.GRPCHeaderName(header.Name)).WithValue(header.Value))
	}
	return applied
}

func grpcMethodMatch(method *modelv1.GRPCMethodMatch) *applygatewayv1.GRPCMethodMatchApplyConfiguration {
	applied := applygatewayv1.GRPCMethodMatch().WithType(gatewayv1.GRPCMethodMatchType(method.Type))
	if method.Service != "" {
		applied.WithService(method.Service)
	}
	if method.Method != "" {
		applied.WithMethod(method.Method)
	}
	return applied
}
