// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package validation

import (
	"regexp"
	"slices"

	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	corevalidation "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/core/validation"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/validate"
)

const (
	maxRoutePath      = 1024
	maxParentKind     = 63
	parentKindFormat  = `[a-zA-Z]([-a-zA-Z0-9]*[a-zA-Z0-9])?`
	routePathFormat   = `(?:[-A-Za-z0-9/._~!$&'()*+,;=:@]|[%][0-9a-fA-F]{2})+`
	routePathExample  = "/api/v1"
	parentKindExample = "Gateway"
)

var (
	routePathTypes    = []networkingv1.PathType{networkingv1.PathTypeExact, networkingv1.PathTypePrefix}
	routePathPattern  = regexp.MustCompile("^" + routePathFormat + "$")
	parentKindPattern = regexp.MustCompile("^" + parentKindFormat + "$")
)

// validateRoute validates the HTTPRoute of a box as the schema of gateway.networking.k8s.io/v1 does.
func validateRoute(spec *model.ModelBoxSpec, specPath *field.Path) field.ErrorList {
	route := spec.Route
	if route == nil {
		return nil
	}
	path := specPath.Child("route")
	return slices.Concat(
		validateParentRefs(route.ParentRefs, path.Child("parentRefs")),
		validateRouteHosts(route.Hosts, path.Child("hosts")),
		validateRouteRules(spec, path, specPath),
	)
}

func validateRouteHosts(hosts []string, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	for i, host := range validate.Each(hosts, &errs) {
		if len(host) > validation.DNS1123SubdomainMaxLength {
			errs = append(errs, field.TooLong(path.Index(i), host, validation.DNS1123SubdomainMaxLength))
			continue
		}
		errs = append(errs, corevalidation.ValidateIngressHost(host, path.Index(i))...)
	}
	return errs
}

// validateRoutePath validates the fields path and pathType below path.
func validateRoutePath(value string, pathType networkingv1.PathType, path *field.Path) field.ErrorList {
	if !slices.Contains(routePathTypes, pathType) {
		return field.ErrorList{field.NotSupported(path.Child("pathType"), pathType, routePathTypes)}
	}
	path = path.Child("path")
	if len(value) > maxRoutePath {
		return field.ErrorList{field.TooLong(path, value, maxRoutePath)}
	}
	errs := corevalidation.ValidateIngressPath(value, pathType, path)
	if len(errs) == 0 {
		errs = validatePathCharacters(value, path)
	}
	return errs
}

func validatePathCharacters(value string, path *field.Path) field.ErrorList {
	if routePathPattern.MatchString(value) {
		return nil
	}
	return field.ErrorList{field.Invalid(path, value, validation.RegexError("must consist of characters of a path", routePathFormat, routePathExample))}
}

// validateParentRefs requires that references to the same object name different sections of it.
func validateParentRefs(parents []model.RouteParentReference, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	type section struct {
		parent model.RouteParentReference
		name   string
	}
	seen, sections := map[model.RouteParentReference]int{}, map[section]bool{}
	for i := range validate.Each(parents, &errs) {
		parent, parentPath := &parents[i], path.Index(i)
		errs = append(errs, validateParentRef(parent, parentPath)...)
		object := model.RouteParentReference{Group: parent.Group, Kind: parent.Kind, Namespace: parent.Namespace, Name: parent.Name}
		first, isKnown := seen[object]
		isAmbiguous := isKnown && (parent.SectionName == "") != (parents[first].SectionName == "")
		if isAmbiguous || sections[section{object, parent.SectionName}] {
			errs = append(errs, field.Invalid(parentPath.Child("sectionName"), parent.SectionName, mustHaveOwnSection(path.Index(first))))
		}
		if !isKnown {
			seen[object] = i
		}
		sections[section{object, parent.SectionName}] = true
	}
	return errs
}

func validateParentRef(parent *model.RouteParentReference, path *field.Path) field.ErrorList {
	errs := slices.Concat(
		validate.Format(parent.Name, validation.IsDNS1123Subdomain, path.Child("name")),
		validate.OptionalName(parent.Group, path.Child("group")),
		validate.OptionalName(parent.SectionName, path.Child("sectionName")),
	)
	switch kind, kindPath := parent.Kind, path.Child("kind"); {
	case kind == "":
	case len(kind) > maxParentKind:
		errs = append(errs, field.TooLong(kindPath, kind, maxParentKind))
	case !parentKindPattern.MatchString(kind):
		errs = append(errs, field.Invalid(kindPath, kind, validation.RegexError("must be the kind of an object", parentKindFormat, parentKindExample)))
	}
	if parent.Port != nil {
		errs = append(errs, validate.Invalid(path.Child("port"), *parent.Port, validation.IsValidPortNum(int(*parent.Port)))...)
	}
	return errs
}
