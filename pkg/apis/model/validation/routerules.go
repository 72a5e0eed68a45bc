// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package validation

import (
	"net/http"
	"regexp"
	"slices"
	"strings"
	"time"

	"golang.org/x/net/http/httpguts"
	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/validate"
)

// The limits of the schema of gateway.networking.k8s.io/v1.
const (
	maxRouteMatches    = 128
	maxHeaderName      = 256
	maxHeaderValue     = 4096
	maxQueryParamValue = 1024
)

const (
	headerNameFormat    = "[A-Za-z0-9!#$%&'*+\\-.^_\\x60|~]+"
	headerNameExample   = "x-version"
	routeTimeoutFormat  = "([0-9]{1,5}(h|m|s|ms)){1,4}"
	routeTimeoutExample = "1m30s"
)

var (
	routeMethods = []string{
		http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodDelete, http.MethodConnect, http.MethodOptions,
		http.MethodTrace, http.MethodPatch,
	}
	routeSchemes      = []string{"http", "https"}
	valueMatchTypes   = []model.RouteValueMatchType{model.RouteValueMatchExact, model.RouteValueMatchRegularExpression}
	redirectCodes     = []int32{http.StatusMovedPermanently, http.StatusFound, http.StatusSeeOther, http.StatusTemporaryRedirect, http.StatusPermanentRedirect}
	headerNamePattern = regexp.MustCompile("^" + headerNameFormat + "$")
	timeoutPattern    = regexp.MustCompile("^" + routeTimeoutFormat + "$")
)

// validateRouteRules validates the rules of the route at path, or without rules the fields that describe its only rule.
func validateRouteRules(spec *model.ModelBoxSpec, path, specPath *field.Path) field.ErrorList {
	route := spec.Route
	if len(route.Rules) == 0 {
		return slices.Concat(
			validateHasHTTPPort(spec, path, specPath),
			validateHTTPPort(spec, route.Port, path.Child("port")),
			validateRoutePath(route.Path, route.PathType, path),
		)
	}
	errs := validate.Forbidden(mustNotUseWithRules, path, []validate.Field{
		{Name: "path", Set: route.Path != ""},
		{Name: "pathType", Set: route.PathType != ""},
		{Name: "port", Set: route.Port != nil},
	})
	if slices.ContainsFunc(route.Rules, func(rule model.RouteRule) bool { return rule.RequestRedirect == nil }) {
		errs = append(errs, validateHasHTTPPort(spec, path, specPath)...)
	}
	matches := 0
	for i := range validate.Each(route.Rules, &errs) {
		matches += len(route.Rules[i].Matches)
		errs = append(errs, validateRouteRule(&route.Rules[i], path.Child("rules").Index(i))...)
		errs = append(errs, validateRulePort(spec, &route.Rules[i], path.Child("rules").Index(i))...)
	}
	if matches > maxRouteMatches {
		errs = append(errs, field.TooMany(path.Child("rules"), matches, maxRouteMatches))
	}
	return errs
}

// validateRulePort requires the port of the rule, unless the rule is a redirect, which has none.
func validateRulePort(spec *model.ModelBoxSpec, rule *model.RouteRule, path *field.Path) field.ErrorList {
	if rule.RequestRedirect == nil {
		return validateHTTPPort(spec, rule.Port, path.Child("port"))
	}
	return validate.Forbidden(mustNotUseWithRedirect, path, []validate.Field{{Name: "port", Set: rule.Port != nil}})
}

func validateRouteRule(rule *model.RouteRule, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	for i := range validate.Each(rule.Matches, &errs) {
		errs = append(errs, validateRouteMatch(&rule.Matches[i], path.Child("matches").Index(i))...)
	}
	return slices.Concat(errs,
		validateHeaderModifier(rule.RequestHeaderModifier, path.Child("requestHeaderModifier")),
		validateHeaderModifier(rule.ResponseHeaderModifier, path.Child("responseHeaderModifier")),
		validate.AtMostOneOf([]validate.Member{
			validate.MemberOf("requestRedirect", rule.RequestRedirect, func(redirect *model.RouteRequestRedirect, path *field.Path) field.ErrorList {
				return validateRedirect(redirect, rule.Matches, path)
			}),
			validate.MemberOf("urlRewrite", rule.URLRewrite, func(rewrite *model.RouteURLRewrite, path *field.Path) field.ErrorList {
				return validateRewrite(rewrite, rule.Matches, path)
			}),
		}, path),
		validateRouteTimeouts(rule.Timeouts, path.Child("timeouts")),
	)
}

func validateRouteMatch(match *model.RouteMatch, path *field.Path) field.ErrorList {
	return slices.Concat(
		validateRoutePath(match.Path, match.PathType, path),
		validate.OptionalEnum(match.Method, routeMethods, path.Child("method")),
		validateValueMatches(match.Headers, strings.ToLower, maxHeaderValue, path.Child("headers")),
		validateValueMatches(match.QueryParams, strings.Clone, maxQueryParamValue, path.Child("queryParams")),
	)
}

// validateValueMatches requires different names. key returns the same key for equal names.
func validateValueMatches(matches []model.RouteValueMatch, key func(string) string, maxValue int, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	seen := sets.New[string]()
	for i := range validate.Each(matches, &errs) {
		match, matchPath := &matches[i], path.Index(i)
		errs = append(errs, validateUniqueName(match.Name, key, seen, matchPath.Child("name"))...)
		errs = append(errs, validateValue(match.Value, maxValue, matchPath.Child("value"))...)
		errs = append(errs, validate.Enum(match.Type, valueMatchTypes, matchPath.Child("type"))...)
	}
	return errs
}

// validateHeaderModifier requires that each header is in one of the lists, once. Their order is otherwise not defined.
func validateHeaderModifier(modifier *model.RouteHeaderModifier, path *field.Path) field.ErrorList {
	if modifier == nil {
		return nil
	}
	seen := sets.New[string]()
	var errs field.ErrorList
	headers := func(headers []model.RouteHeader, path *field.Path) {
		for i := range validate.Each(headers, &errs) {
			errs = append(errs, validateUniqueName(headers[i].Name, strings.ToLower, seen, path.Index(i).Child("name"))...)
			errs = append(errs, validateValue(headers[i].Value, maxHeaderValue, path.Index(i).Child("value"))...)
		}
	}
	headers(modifier.Set, path.Child("set"))
	headers(modifier.Add, path.Child("add"))
	for i, name := range validate.Each(modifier.Remove, &errs) {
		errs = append(errs, validateUniqueName(name, strings.ToLower, seen, path.Child("remove").Index(i))...)
	}
	if len(modifier.Set)+len(modifier.Add)+len(modifier.Remove) == 0 {
		errs = append(errs, field.Required(path, mustModifyHeader))
	}
	return errs
}

// validateUniqueName requires the name of a header or a query parameter whose key is not yet in seen, and adds the key.
func validateUniqueName(name string, key func(string) string, seen sets.Set[string], path *field.Path) field.ErrorList {
	switch {
	case name == "":
		return field.ErrorList{field.Required(path, "")}
	case len(name) > maxHeaderName:
		return field.ErrorList{field.TooLong(path, name, maxHeaderName)}
	case !headerNamePattern.MatchString(name):
		return field.ErrorList{field.Invalid(path, name, validation.RegexError("must be a token of HTTP", headerNameFormat, headerNameExample))}
	case seen.Has(key(name)):
		return field.ErrorList{field.Duplicate(path, name)}
	default:
		seen.Insert(key(name))
		return nil
	}
}

// validateValue requires the value of a header or a query parameter. It refuses control characters, because proxies put the value into
// their configuration.
func validateValue(value string, maxLength int, path *field.Path) field.ErrorList {
	switch {
	case value == "":
		return field.ErrorList{field.Required(path, "")}
	case len(value) > maxLength:
		return field.ErrorList{field.TooLong(path, value, maxLength)}
	case !httpguts.ValidHeaderFieldValue(value):
		return field.ErrorList{field.Invalid(path, value, mustNotHaveControlCharacters)}
	default:
		return nil
	}
}

func validateRedirect(redirect *model.RouteRequestRedirect, matches []model.RouteMatch, path *field.Path) field.ErrorList {
	errs := slices.Concat(
		validate.OptionalEnum(redirect.Scheme, routeSchemes, path.Child("scheme")),
		validate.OptionalName(redirect.Hostname, path.Child("hostname")),
		validatePathModifier(redirect.Path, matches, path.Child("path")),
	)
	if redirect.Port != nil {
		errs = append(errs, validate.Invalid(path.Child("port"), *redirect.Port, validation.IsValidPortNum(int(*redirect.Port)))...)
	}
	if redirect.StatusCode != nil && !slices.Contains(redirectCodes, *redirect.StatusCode) {
		errs = append(errs, field.Invalid(path.Child("statusCode"), *redirect.StatusCode, mustBeRedirectCode))
	}
	if redirect.Scheme == "" && redirect.Hostname == "" && redirect.Path == nil && redirect.Port == nil {
		errs = append(errs, field.Required(path, mustRedirectElsewhere))
	}
	return errs
}

func validateRewrite(rewrite *model.RouteURLRewrite, matches []model.RouteMatch, path *field.Path) field.ErrorList {
	if rewrite.Hostname == "" && rewrite.Path == nil {
		return field.ErrorList{field.Required(path, "must have hostname or path")}
	}
	return append(validate.OptionalName(rewrite.Hostname, path.Child("hostname")), validatePathModifier(rewrite.Path, matches, path.Child("path"))...)
}

func validatePathModifier(modifier *model.RoutePathModifier, matches []model.RouteMatch, path *field.Path) field.ErrorList {
	if modifier == nil {
		return nil
	}
	return validate.ExactlyOneOf([]validate.Member{
		validate.MemberOf("replaceFullPath", modifier.ReplaceFullPath, validateNewPath),
		validate.MemberOf("replacePrefixMatch", modifier.ReplacePrefixMatch, func(prefix *string, path *field.Path) field.ErrorList {
			if len(matches) > 1 || len(matches) == 1 && matches[0].PathType != networkingv1.PathTypePrefix {
				return field.ErrorList{field.Forbidden(path, mustHaveOnePrefix)}
			}
			if *prefix == "" {
				return nil
			}
			return validateNewPath(prefix, path)
		}),
	}, path)
}

func validateNewPath(value *string, path *field.Path) field.ErrorList {
	switch {
	case len(*value) > maxRoutePath:
		return field.ErrorList{field.TooLong(path, *value, maxRoutePath)}
	case !strings.HasPrefix(*value, "/"):
		return field.ErrorList{field.Invalid(path, *value, "must begin with '/'")}
	default:
		return validatePathCharacters(*value, path)
	}
}

func validateRouteTimeouts(timeouts *model.RouteTimeouts, path *field.Path) field.ErrorList {
	if timeouts == nil {
		return nil
	}
	request, errs := parseRouteTimeout(timeouts.Request, path.Child("request"))
	backendRequest, more := parseRouteTimeout(timeouts.BackendRequest, path.Child("backendRequest"))
	errs = append(errs, more...)
	if request > 0 && backendRequest > request {
		errs = append(errs, field.Invalid(path.Child("backendRequest"), timeouts.BackendRequest, mustNotExceedRequest(timeouts.Request)))
	}
	return errs
}

// parseRouteTimeout returns 0 for a timeout that is turned off or not set.
func parseRouteTimeout(value string, path *field.Path) (time.Duration, field.ErrorList) {
	if value == "" {
		return 0, nil
	}
	if !timeoutPattern.MatchString(value) {
		return 0, field.ErrorList{field.Invalid(path, value, validation.RegexError("must be a duration", routeTimeoutFormat, routeTimeoutExample))}
	}
	timeout, err := time.ParseDuration(value)
	if err != nil {
		return 0, field.ErrorList{field.Invalid(path, value, err.Error())}
	}
	return timeout, nil
}
