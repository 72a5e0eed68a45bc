// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

// Package serviceingress renders the Ingress of an annotated Service.
package serviceingress

import (
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	corevalidation "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/core/validation"
)

// The annotations of a Service for its Ingress. An empty value is the same as no annotation.
const (
	// HTTPAnnotation is "true" to create an Ingress with the name of the Service. "false" is the same as no annotation.
	HTTPAnnotation = "ingress/http"
	// HostAnnotation is the host of the Ingress, a DNS name. Its first label may be "*".
	HostAnnotation = "ingress/host"
	// ClassAnnotation is the IngressClass.
	ClassAnnotation = "ingress/class"
	// PathAnnotation is the path of the Ingress, of type Prefix. The default is "/".
	PathAnnotation = "ingress/path"
)

// Annotations are the keys of these annotations.
var Annotations = []string{HTTPAnnotation, HostAnnotation, ClassAnnotation, PathAnnotation}

// The placeholders of a host pattern.
const (
	namePlaceholder      = "{name}"
	namespacePlaceholder = "{namespace}"
)

// Defaults are the defaults for Services without the annotation.
type Defaults struct {
	// Class is the IngressClass. If it is empty, the default class of the cluster applies.
	Class string
	// HostPattern is the host, with the placeholders {name} and {namespace} for the name and the namespace of the Service. Empty
	// means any host.
	HostPattern string
}

// ValidateHostPattern returns an error if the pattern, which must not be empty, cannot be the pattern for hosts of Services.
func ValidateHostPattern(pattern string) error {
	if !strings.Contains(pattern, namePlaceholder) {
		return fmt.Errorf("must contain %s, or all Services would have the same host", namePlaceholder)
	}
	host := Defaults{HostPattern: pattern}.hostOf("name", "namespace")
	if errs := corevalidation.ValidateIngressHost(host, nil); len(errs) > 0 {
		return fmt.Errorf("must become a host as {name}.{namespace}.example.com does, and becomes %q: %s", host, errs[0].Detail)
	}
	return nil
}

// hostOf returns the host of a Service by the pattern.
func (d Defaults) hostOf(name, namespace string) string {
	return strings.NewReplacer(namePlaceholder, name, namespacePlaceholder, namespace).Replace(d.HostPattern)
}

// IsAnnotated returns whether the Service has an HTTPAnnotation that is not empty or "false".
func IsAnnotated(service metav1.Object) bool {
	value := service.GetAnnotations()[HTTPAnnotation]
	return value != "" && value != "false"
}

// AsksForIngress returns whether the Service asks for an Ingress.
func AsksForIngress(service metav1.Object) bool {
	return service.GetAnnotations()[HTTPAnnotation] == "true"
}

// Validate returns the reasons why the Service cannot have the Ingress of its annotations and the defaults. It returns none for a
// Service that is not annotated.
func Validate(service *corev1.Service, defaults Defaults) field.ErrorList {
	if !IsAnnotated(service) {
		return nil
	}
	path := field.NewPath("metadata", "annotations")
	if !AsksForIngress(service) {
		return field.ErrorList{field.NotSupported(path.Key(HTTPAnnotation), service.Annotations[HTTPAnnotation], []string{"true", "false"})}
	}
	errs := validateHost(service, defaults, path.Key(HostAnnotation))
	if class := service.Annotations[ClassAnnotation]; class != "" {
		errs = append(errs, corevalidation.ValidateIngressClassName(class, path.Key(ClassAnnotation))...)
	}
	errs = append(errs, corevalidation.ValidateIngressPath(pathOf(service), networkingv1.PathTypePrefix, path.Key(PathAnnotation))...)
	if portOf(service) == nil {
		errs = append(errs, field.Required(field.NewPath("spec", "ports"), "an Ingress needs a port with protocol TCP"))
	}
	return errs
}

func validateHost(service *corev1.Service, defaults Defaults, path *field.Path) field.ErrorList {
	host := defaults.host(service)
	if host == "" {
		return nil
	}
	errs := corevalidation.ValidateIngressHost(host, path)
	if service.Annotations[HostAnnotation] != "" {
		return errs
	}
	for i, err := range errs {
		errs[i] = field.Required(path, fmt.Sprintf("the pattern %s makes the host %q of this Service: %s", defaults.HostPattern, host, err.Detail))
	}
	return errs
}
