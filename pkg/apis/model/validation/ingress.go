// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package validation

import (
	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/validation/field"

	corevalidation "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/core/validation"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/helper"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/validate"
)

// validateIngress validates the Ingress of a box.
func validateIngress(spec *model.ModelBoxSpec, specPath *field.Path) field.ErrorList {
	ingress := spec.Ingress
	if ingress == nil {
		return nil
	}
	path := specPath.Child("ingress")
	errs := append(validateHasHTTPPort(spec, path, specPath), validateHTTPPort(spec, ingress.Port, path.Child("port"))...)
	for i, host := range validate.Each(ingress.Hosts, &errs) {
		errs = append(errs, corevalidation.ValidateIngressHost(host, path.Child("hosts").Index(i))...)
	}
	errs = append(errs, corevalidation.ValidateIngressPathType(ingress.PathType, path.Child("pathType"))...)
	errs = append(errs, corevalidation.ValidateIngressPath(ingress.Path, ingress.PathType, path.Child("path"))...)
	errs = append(errs, validateIngressPaths(spec, path)...)
	if ingress.ClassName != nil {
		errs = append(errs, corevalidation.ValidateIngressClassName(*ingress.ClassName, path.Child("className"))...)
	}
	return append(errs, validateIngressAnnotations(ingress, path.Child("annotations"))...)
}

// validateIngressPaths requires that each path of an Ingress is there once, because the class would choose one of its ports.
func validateIngressPaths(spec *model.ModelBoxSpec, path *field.Path) field.ErrorList {
	type pathOfType struct {
		path     string
		pathType networkingv1.PathType
	}
	ingress := spec.Ingress
	var errs field.ErrorList
	seen := map[pathOfType]bool{{ingress.Path, ingress.PathType}: true}
	for i := range validate.Each(ingress.Paths, &errs) {
		element, elementPath := &ingress.Paths[i], path.Child("paths").Index(i)
		errs = append(errs, validateHTTPPort(spec, element.Port, elementPath.Child("port"))...)
		errs = append(errs, corevalidation.ValidateIngressPathType(element.PathType, elementPath.Child("pathType"))...)
		errs = append(errs, validateIngressPath(element, elementPath.Child("path"))...)
		key := pathOfType{element.Path, element.PathType}
		if seen[key] {
			errs = append(errs, field.Duplicate(elementPath.Child("path"), element.Path))
		}
		seen[key] = true
	}
	return errs
}

func validateIngressPath(element *model.ModelBoxIngressPath, path *field.Path) field.ErrorList {
	if element.Path == "" {
		return field.ErrorList{field.Required(path, "")}
	}
	return corevalidation.ValidateIngressPath(element.Path, element.PathType, path)
}

// validateIngressAnnotations also requires that the class in an annotation is the same as className.
func validateIngressAnnotations(ingress *model.ModelBoxIngress, path *field.Path) field.ErrorList {
	errs := validateChildAnnotations(ingress.Annotations, path)
	class, isGiven := ingress.Annotations[corevalidation.IngressClassAnnotation]
	if isGiven && ingress.ClassName != nil && class != *ingress.ClassName {
		errs = append(errs, field.Invalid(path.Key(corevalidation.IngressClassAnnotation), class, mustMatchClassName))
	}
	return errs
}

// validateHasHTTPPort requires that the box has any port for the Ingress or the HTTPRoute at path.
func validateHasHTTPPort(spec *model.ModelBoxSpec, path, specPath *field.Path) field.ErrorList {
	if helper.HTTPPort(spec.Ports, nil) != nil {
		return nil
	}
	return field.ErrorList{field.Required(specPath.Child("ports"), "must have a port with protocol TCP for "+path.String())}
}

// validateHTTPPort requires that the box has the port, at path, unless validateHasHTTPPort already refuses the box.
func validateHTTPPort(spec *model.ModelBoxSpec, port *intstr.IntOrString, path *field.Path) field.ErrorList {
	if helper.HTTPPort(spec.Ports, nil) == nil || helper.HTTPPort(spec.Ports, port) != nil {
		return nil
	}
	missing := field.NotFound(path, port.String())
	missing.Detail = mustHavePortForHTTP
	return field.ErrorList{missing}
}
