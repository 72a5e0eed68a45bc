// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package validation

import (
	"regexp"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/validate"
)

// The limits of the schema of gateway.networking.k8s.io/v1.
const (
	maxGRPCName        = 1024
	grpcServiceFormat  = `\.?[A-Za-z_][A-Za-z_0-9]*(\.[A-Za-z_][A-Za-z_0-9]*)*`
	grpcServiceExample = "shop.Cart"
	grpcMethodFormat   = `[A-Za-z_][A-Za-z_0-9]*`
	grpcMethodExample  = "Checkout"
)

var (
	grpcServicePattern = regexp.MustCompile("^" + grpcServiceFormat + "$")
	grpcMethodPattern  = regexp.MustCompile("^" + grpcMethodFormat + "$")
)

// validateGRPCRoute validates the GRPCRoute of a box as the schema of gateway.networking.k8s.io/v1 does.
func validateGRPCRoute(spec *model.ModelBoxSpec, specPath *field.Path) field.ErrorList {
	route := spec.GRPCRoute
	if route == nil {
		return nil
	}
	path := specPath.Child("grpcRoute")
	return slices.Concat(
		validateParentRefs(route.ParentRefs, path.Child("parentRefs")),
		validateRouteHosts(route.Hosts, path.Child("hosts")),
		validateHasHTTPPort(spec, path, specPath),
		validateGRPCRouteRules(spec, path),
	)
}

// validateGRPCRouteRules validates the rules of a route, or without rules the port of its only rule.
func validateGRPCRouteRules(spec *model.ModelBoxSpec, path *field.Path) field.ErrorList {
	route := spec.GRPCRoute
	if len(route.Rules) == 0 {
		return validateHTTPPort(spec, route.Port, path.Child("port"))
	}
	errs := validate.Forbidden(mustNotUseWithRules, path, []validate.Field{{Name: "port", Set: route.Port != nil}})
	matches := 0
	for i := range validate.Each(route.Rules, &errs) {
		rule, rulePath := &route.Rules[i], path.Child("rules").Index(i)
		matches += len(rule.Matches)
		errs = append(errs, validateGRPCRouteRule(rule, rulePath)...)
		errs = append(errs, validateHTTPPort(spec, rule.Port, rulePath.Child("port"))...)
	}
	if matches > maxRouteMatches {
		errs = append(errs, field.TooMany(path.Child("rules"), matches, maxRouteMatches))
	}
	return errs
}

func validateGRPCRouteRule(rule *model.GRPCRouteRule, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	for i := range validate.Each(rule.Matches, &errs) {
		match, matchPath := &rule.Matches[i], path.Child("matches").Index(i)
		errs = append(errs, validateGRPCMethod(match.Method, matchPath.Child("method"))...)
		errs = append(errs, validateValueMatches(match.Headers, strings.ToLower, maxHeaderValue, matchPath.Child("headers"))...)
	}
	return slices.Concat(errs,
		validateHeaderModifier(rule.RequestHeaderModifier, path.Child("requestHeaderModifier")),
		validateHeaderModifier(rule.ResponseHeaderModifier, path.Child("responseHeaderModifier")),
	)
}

func validateGRPCMethod(match *model.GRPCMethodMatch, path *field.Path) field.ErrorList {
	if match == nil {
		return nil
	}
	errs := validate.Enum(match.Type, valueMatchTypes, path.Child("type"))
	if match.Service == "" && match.Method == "" {
		return append(errs, field.Required(path, mustMatchServiceOrMethod))
	}
	isExact := match.Type == model.RouteValueMatchExact
	return slices.Concat(errs,
		validateGRPCName(match.Service, isExact && !grpcServicePattern.MatchString(match.Service),
			validation.RegexError("must be the name of a gRPC service", grpcServiceFormat, grpcServiceExample), path.Child("service")),
		validateGRPCName(match.Method, isExact && !grpcMethodPattern.MatchString(match.Method),
			validation.RegexError("must be the name of a gRPC method", grpcMethodFormat, grpcMethodExample), path.Child("method")),
	)
}

// validateGRPCName refuses a name, or the regular expression in place of one, that is too long, has control characters, or is invalid.
func validateGRPCName(name string, isInvalid bool, message string, path *field.Path) field.ErrorList {
	switch {
	case name == "":
		return nil
	case len(name) > maxGRPCName:
		return field.ErrorList{field.TooLong(path, name, maxGRPCName)}
	case isInvalid:
		return field.ErrorList{field.Invalid(path, name, message)}
	default:
		return validateValue(name, maxGRPCName, path)
	}
}
