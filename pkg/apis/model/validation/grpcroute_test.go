// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package validation

import (
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model"
)

func TestGRPCRoute(t *testing.T) {
	const rule = "spec.grpcRoute.rules[0]"
	method := func(service, name string, matchType model.RouteValueMatchType) func(*model.ModelBox) {
		return grpcMatches(model.GRPCRouteMatch{Method: &model.GRPCMethodMatch{Service: service, Method: name, Type: matchType}})
	}
	exact := func(service, name string) func(*model.ModelBox) {
		return method(service, name, model.RouteValueMatchExact)
	}
	check(t, []row{
		{"a route is accepted", grpcRoute(), nil},
		{"a route with hosts and a port is accepted", grpcRoute(func(route *model.ModelBoxGRPCRoute) {
			route.Hosts, route.Port = []string{"*.example.com"}, ptr.To(intstr.FromInt32(80))
		}), nil},
		{"a route without parents is refused", grpcRoute(func(route *model.ModelBoxGRPCRoute) { route.ParentRefs = nil }),
			[]string{"Required value: spec.grpcRoute.parentRefs"}},
		{"a parent without a name is refused", grpcRoute(func(route *model.ModelBoxGRPCRoute) { route.ParentRefs[0].Name = "" }),
			[]string{"Required value: spec.grpcRoute.parentRefs[0].name"}},
		{"an IP address is refused", grpcRoute(func(route *model.ModelBoxGRPCRoute) { route.Hosts = []string{"192.0.2.1"} }),
			[]string{"Invalid value: spec.grpcRoute.hosts[0]"}},
		{"a port that the box does not have is refused", grpcRoute(func(route *model.ModelBoxGRPCRoute) { route.Port = ptr.To(intstr.FromString("grpc")) }),
			[]string{"Not found: spec.grpcRoute.port"}},
		{"a box without ports is refused", all(grpcRoute(), func(box *model.ModelBox) { box.Spec.Ports = nil }), []string{"Required value: spec.ports"}},
		{"a box with a UDP port only is refused", all(grpcRoute(), func(box *model.ModelBox) { box.Spec.Ports[0].Protocol = corev1.ProtocolUDP }),
			[]string{"Required value: spec.ports"}},

		{"a rule without matches is accepted", grpcRules(model.GRPCRouteRule{}), nil},
		{"a match of everything is accepted", grpcMatches(model.GRPCRouteMatch{}), nil},
		{"a service is accepted", exact("shop.v1.Cart", ""), nil},
		{"a method is accepted", exact("", "Checkout"), nil},
		{"a service with its method is accepted", exact("shop.Cart", "Checkout"), nil},
		{"regular expressions are accepted", method("shop[.].*", "(Get|List).*", model.RouteValueMatchRegularExpression), nil},
		{"neither service nor method is refused", exact("", ""), []string{"Required value: " + rule + ".matches[0].method"}},
		{"a path in place of a service is refused", exact("/shop.Cart", ""), []string{"Invalid value: " + rule + ".matches[0].method.service"}},
		{"a service with its method in one is refused", exact("", "shop.Cart/Checkout"), []string{"Invalid value: " + rule + ".matches[0].method.method"}},
		{"an expression that is not one is refused", exact("shop[.].*", ""), []string{"Invalid value: " + rule + ".matches[0].method.service"}},
		{"an expression with a line break is refused", method("a\nb", "", model.RouteValueMatchRegularExpression),
			[]string{"Invalid value: " + rule + ".matches[0].method.service"}},
		{"another type is refused", method("shop.Cart", "", "Prefix"), []string{"Unsupported value: " + rule + ".matches[0].method.type"}},
		{"a service that is too long is refused", exact(strings.Repeat("a", 1025), ""), []string{"Too long: " + rule + ".matches[0].method.service"}},
		{"a header twice is refused", grpcMatches(model.GRPCRouteMatch{Headers: []model.RouteValueMatch{
			{Name: "a", Value: "b", Type: model.RouteValueMatchExact}, {Name: "A", Value: "c", Type: model.RouteValueMatchExact}}}),
			[]string{"Duplicate value: " + rule + ".matches[0].headers[1].name"}},
		{"a change of no header is refused", grpcRules(model.GRPCRouteRule{RequestHeaderModifier: &model.RouteHeaderModifier{}}),
			[]string{"Required value: " + rule + ".requestHeaderModifier"}},
		{"a header without a value is refused", grpcRules(model.GRPCRouteRule{ResponseHeaderModifier: &model.RouteHeaderModifier{Set: []model.RouteHeader{{Name: "a"}}}}),
			[]string{"Required value: " + rule + ".responseHeaderModifier.set[0].value"}},
		{"a port beside rules is refused", all(grpcRules(model.GRPCRouteRule{}), func(box *model.ModelBox) { box.Spec.GRPCRoute.Port = ptr.To(intstr.FromInt32(80)) }),
			[]string{"Forbidden: spec.grpcRoute.port"}},
		{"a port of a rule that the box does not have is refused", grpcRules(model.GRPCRouteRule{Port: ptr.To(intstr.FromInt32(1))}),
			[]string{"Not found: " + rule + ".port"}},
		{"129 matches are refused", grpcRules(slices.Repeat([]model.GRPCRouteRule{{Matches: make([]model.GRPCRouteMatch, 43)}}, 3)...),
			[]string{"Too many: spec.grpcRoute.rules"}},
	})
}

// grpcRoute gives the box a GRPCRoute of one Gateway, with the changes.
func grpcRoute(changes ...func(*model.ModelBoxGRPCRoute)) func(*model.ModelBox) {
	return func(box *model.ModelBox) {
		box.Spec.GRPCRoute = &model.ModelBoxGRPCRoute{ParentRefs: []model.RouteParentReference{gateway("public")}}
		all(changes...)(box.Spec.GRPCRoute)
	}
}

func grpcRules(rules ...model.GRPCRouteRule) func(*model.ModelBox) {
	return grpcRoute(func(route *model.ModelBoxGRPCRoute) { route.Rules = rules })
}

func grpcMatches(matches ...model.GRPCRouteMatch) func(*model.ModelBox) {
	return grpcRules(model.GRPCRouteRule{Matches: matches})
}
