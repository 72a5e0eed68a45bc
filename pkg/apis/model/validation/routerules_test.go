// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package validation

import (
	"slices"
	"strings"
	"testing"

	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model"
)

func TestRouteRules(t *testing.T) {
	const rule = "spec.route.rules[0]"
	check(t, []row{
		{"an empty rule is accepted", routeRule(model.RouteRule{}), nil},
		{"the path of a route with rules is refused", route(parents(gateway("public")), rules(model.RouteRule{})),
			[]string{"Forbidden: spec.route.path", "Forbidden: spec.route.pathType"}},
		{"the port of a route with rules is refused", all(routeRule(model.RouteRule{}), func(box *model.ModelBox) { box.Spec.Route.Port = ptr.To(intstr.FromInt32(80)) }),
			[]string{"Forbidden: spec.route.port"}},
		{"the port of a rule is accepted", routeRule(model.RouteRule{Port: ptr.To(intstr.FromString("http"))}), nil},
		{"the number of no port is refused", routeRule(model.RouteRule{Port: ptr.To(intstr.FromInt32(81))}), []string{"Not found: " + rule + ".port"}},
		{"a box without ports is refused once", all(ports(), routeRules(model.RouteRule{}, model.RouteRule{Port: ptr.To(intstr.FromInt32(80))})), []string{"Required value: spec.ports"}},
		{"a box without ports may redirect", all(ports(), routeRule(model.RouteRule{RequestRedirect: &model.RouteRequestRedirect{Scheme: "https"}})), nil},
		{"too many matches of all rules are refused", routeRules(slices.Repeat([]model.RouteRule{{Matches: slices.Repeat([]model.RouteMatch{matchOf()}, 43)}}, 3)...),
			[]string{"Too many: spec.route.rules"}},
		{"as many matches as there may be are accepted", routeRules(slices.Repeat([]model.RouteRule{{Matches: slices.Repeat([]model.RouteMatch{matchOf()}, 64)}}, 2)...), nil},
	})
}

func TestRouteMatches(t *testing.T) {
	const match = "spec.route.rules[0].matches[0]"
	header := func(name, value string) model.RouteValueMatch {
		return model.RouteValueMatch{Name: name, Value: value, Type: model.RouteValueMatchExact}
	}
	expression := func(value string) model.RouteValueMatch {
		return model.RouteValueMatch{Name: "x-version", Value: value, Type: model.RouteValueMatchRegularExpression}
	}
	headers := func(headers ...model.RouteValueMatch) func(*model.ModelBox) {
		return matches(matchOf(func(match *model.RouteMatch) { match.Headers = headers }))
	}
	params := func(params ...model.RouteValueMatch) func(*model.ModelBox) {
		return matches(matchOf(func(match *model.RouteMatch) { match.QueryParams = params }))
	}
	check(t, []row{
		{"all conditions are accepted", matches(model.RouteMatch{Path: "/api", PathType: networkingv1.PathTypeExact, Method: "GET",
			Headers: []model.RouteValueMatch{header("x-tenant", "a"), expression("v[12](?!0)")}, QueryParams: []model.RouteValueMatch{header("debug", "1")}}), nil},
		{"a relative path is refused", matches(model.RouteMatch{Path: "api", PathType: networkingv1.PathTypePrefix}), []string{"Invalid value: " + match + ".path"}},
		{"another path type is refused", matches(model.RouteMatch{Path: "/", PathType: networkingv1.PathTypeImplementationSpecific}),
			[]string{"Unsupported value: " + match + ".pathType"}},
		{"a method in lower case is refused", matches(matchOf(func(match *model.RouteMatch) { match.Method = "get" })), []string{"Unsupported value: " + match + ".method"}},

		{"a header without a name is refused", headers(header("", "a")), []string{"Required value: " + match + ".headers[0].name"}},
		{"a header without a value is refused", headers(header("a", "")), []string{"Required value: " + match + ".headers[0].value"}},
		{"a name with a blank is refused", headers(header("a b", "a")), []string{"Invalid value: " + match + ".headers[0].name"}},
		{"a name that is too long is refused", headers(header(strings.Repeat("a", 257), "a")), []string{"Too long: " + match + ".headers[0].name"}},
		{"a value of two lines is refused", headers(header("a", "b\r\nc: d")), []string{"Invalid value: " + match + ".headers[0].value"}},
		{"a value that is too long is refused", headers(header("a", strings.Repeat("a", 4097))), []string{"Too long: " + match + ".headers[0].value"}},
		{"a header in another case is the same", headers(header("X-A", "a"), header("x-a", "b")), []string{"Duplicate value: " + match + ".headers[1].name"}},
		{"another type is refused", headers(model.RouteValueMatch{Name: "a", Value: "a", Type: "Prefix"}), []string{"Unsupported value: " + match + ".headers[0].type"}},

		{"a query parameter in another case is another one", params(header("A", "a"), header("a", "a")), nil},
		{"a query parameter that comes twice is refused", params(header("a", "a"), header("a", "b")), []string{"Duplicate value: " + match + ".queryParams[1].name"}},
		{"a value of a query parameter that is too long is refused", params(header("a", strings.Repeat("a", 1025))), []string{"Too long: " + match + ".queryParams[0].value"}},
	})
}

func TestRouteFilters(t *testing.T) {
	const rule = "spec.route.rules[0]"
	exact := model.RouteMatch{Path: "/", PathType: networkingv1.PathTypeExact}
	redirect := func(redirect model.RouteRequestRedirect, matches ...model.RouteMatch) func(*model.ModelBox) {
		return routeRule(model.RouteRule{Matches: matches, RequestRedirect: &redirect})
	}
	rewrite := func(rewrite model.RouteURLRewrite, matches ...model.RouteMatch) func(*model.ModelBox) {
		return routeRule(model.RouteRule{Matches: matches, URLRewrite: &rewrite})
	}
	modify := func(modifier model.RouteHeaderModifier) func(*model.ModelBox) {
		return routeRule(model.RouteRule{RequestHeaderModifier: &modifier})
	}
	prefix := func(prefix string) *model.RoutePathModifier {
		return &model.RoutePathModifier{ReplacePrefixMatch: &prefix}
	}
	full := func(path string) *model.RoutePathModifier { return &model.RoutePathModifier{ReplaceFullPath: &path} }
	check(t, []row{
		{"everything about a redirect is accepted", redirect(model.RouteRequestRedirect{Scheme: "https", Hostname: "www.example.com", Path: full("/closed"),
			Port: ptr.To[int32](8443), StatusCode: ptr.To[int32](308)}), nil},
		{"a redirect to the same URL is refused", redirect(model.RouteRequestRedirect{StatusCode: ptr.To[int32](301)}), []string{"Required value: " + rule + ".requestRedirect"}},
		{"another scheme is refused", redirect(model.RouteRequestRedirect{Scheme: "ftp"}), []string{"Unsupported value: " + rule + ".requestRedirect.scheme"}},
		{"a host that is a pattern is refused", redirect(model.RouteRequestRedirect{Hostname: "*.example.com"}), []string{"Invalid value: " + rule + ".requestRedirect.hostname"}},
		{"a port out of range is refused", redirect(model.RouteRequestRedirect{Port: ptr.To[int32](0)}), []string{"Invalid value: " + rule + ".requestRedirect.port"}},
		{"another status code is refused", redirect(model.RouteRequestRedirect{Scheme: "https", StatusCode: ptr.To[int32](200)}),
			[]string{"Invalid value: " + rule + ".requestRedirect.statusCode"}},
		{"a port of the box beside a redirect is refused", routeRule(model.RouteRule{Port: ptr.To(intstr.FromInt32(80)), RequestRedirect: &model.RouteRequestRedirect{Scheme: "https"}}),
			[]string{"Forbidden: " + rule + ".port"}},
		{"a rewrite beside a redirect is refused", routeRule(model.RouteRule{RequestRedirect: &model.RouteRequestRedirect{Scheme: "https"},
			URLRewrite: &model.RouteURLRewrite{Hostname: "a"}}), []string{"Forbidden: " + rule + ".urlRewrite"}},

		{"a rewrite of the prefix of all requests is accepted", rewrite(model.RouteURLRewrite{Path: prefix("/v2")}), nil},
		{"a prefix that is removed is accepted", rewrite(model.RouteURLRewrite{Path: prefix("")}, matchOf()), nil},
		{"a rewrite of the prefix of an exact path is refused", rewrite(model.RouteURLRewrite{Path: prefix("/v2")}, exact),
			[]string{"Forbidden: " + rule + ".urlRewrite.path.replacePrefixMatch"}},
		{"a redirect of the prefix of two matches is refused", redirect(model.RouteRequestRedirect{Path: prefix("/v2")}, matchOf(), matchOf()),
			[]string{"Forbidden: " + rule + ".requestRedirect.path.replacePrefixMatch"}},
		{"a rewrite of nothing is refused", rewrite(model.RouteURLRewrite{}), []string{"Required value: " + rule + ".urlRewrite"}},
		{"no new path is refused", rewrite(model.RouteURLRewrite{Path: &model.RoutePathModifier{}}), []string{"Required value: " + rule + ".urlRewrite.path"}},
		{"two new paths are refused", rewrite(model.RouteURLRewrite{Path: &model.RoutePathModifier{ReplaceFullPath: ptr.To("/"), ReplacePrefixMatch: ptr.To("/")}}),
			[]string{"Forbidden: " + rule + ".urlRewrite.path.replacePrefixMatch"}},
		{"a relative path is refused", rewrite(model.RouteURLRewrite{Path: full("a")}), []string{"Invalid value: " + rule + ".urlRewrite.path.replaceFullPath"}},
		{"a path with a variable of a proxy is refused", rewrite(model.RouteURLRewrite{Path: full("/{a}")}), []string{"Invalid value: " + rule + ".urlRewrite.path.replaceFullPath"}},
		{"a path that is too long is refused", rewrite(model.RouteURLRewrite{Path: full("/" + strings.Repeat("a", 1024))}),
			[]string{"Too long: " + rule + ".urlRewrite.path.replaceFullPath"}},

		{"headers are accepted", modify(model.RouteHeaderModifier{Set: []model.RouteHeader{{Name: "a", Value: "a"}}, Add: []model.RouteHeader{{Name: "b", Value: "b"}}, Remove: []string{"c"}}), nil},
		{"a change of no header is refused", modify(model.RouteHeaderModifier{}), []string{"Required value: " + rule + ".requestHeaderModifier"}},
		{"a header in two lists is refused", modify(model.RouteHeaderModifier{Set: []model.RouteHeader{{Name: "A", Value: "a"}}, Remove: []string{"a"}}),
			[]string{"Duplicate value: " + rule + ".requestHeaderModifier.remove[0]"}},
		{"a value that ends the header is refused", modify(model.RouteHeaderModifier{Add: []model.RouteHeader{{Name: "a", Value: "a\n"}}}),
			[]string{"Invalid value: " + rule + ".requestHeaderModifier.add[0].value"}},
	})
}

func TestRouteTimeouts(t *testing.T) {
	const timeouts = "spec.route.rules[0].timeouts"
	of := func(request, backendRequest string) func(*model.ModelBox) {
		return routeRule(model.RouteRule{Timeouts: &model.RouteTimeouts{Request: request, BackendRequest: backendRequest}})
	}
	check(t, []row{
		{"timeouts are accepted", of("1m30s", "500ms"), nil},
		{"no timeout is accepted", of("0s", "10s"), nil},
		{"a fraction is refused", of("1.5s", ""), []string{"Invalid value: " + timeouts + ".request"}},
		{"a number is refused", of("", "10"), []string{"Invalid value: " + timeouts + ".backendRequest"}},
		{"a negative timeout is refused", of("-1s", ""), []string{"Invalid value: " + timeouts + ".request"}},
		{"a request to a pod that takes longer is refused", of("10s", "11s"), []string{"Invalid value: " + timeouts + ".backendRequest"}},
	})
}

// routeRules gives the box an HTTPRoute with these rules.
func routeRules(ofRoute ...model.RouteRule) func(*model.ModelBox) {
	return route(parents(gateway("public")), routePath("", ""), rules(ofRoute...))
}

func routeRule(rule model.RouteRule) func(*model.ModelBox) { return routeRules(rule) }

func matches(matches ...model.RouteMatch) func(*model.ModelBox) {
	return routeRule(model.RouteRule{Matches: matches})
}

func rules(rules ...model.RouteRule) func(*model.ModelBoxRoute) {
	return func(route *model.ModelBoxRoute) { route.Rules = rules }
}

// matchOf returns a match that has its defaults, but for the changes.
func matchOf(changes ...func(*model.RouteMatch)) model.RouteMatch {
	match := model.RouteMatch{Path: "/", PathType: networkingv1.PathTypePrefix}
	all(changes...)(&match)
	return match
}
