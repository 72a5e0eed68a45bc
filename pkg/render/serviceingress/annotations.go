// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

// Package serviceingress turns a Service that is annotated into its Ingress.
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

// The annotations of a Service that are read. An empty one is as if it were not there.
const (
	// HTTPAnnotation is "true" on a Service that asks for an Ingress of its name. "false" is the same as none.
	HTTPAnnotation = "ingress/http"
	// HostAnnotation is the DNS name that clients ask for. The first label may be "*".
	HostAnnotation = "ingress/host"
	// ClassAnnotation is the IngressClass.
	ClassAnnotation = "ingress/class"
	// PathAnnotation is what the paths of the requests begin with, element by element. The default is "/".
	PathAnnotation = "ingress/path"
)

// Annotations are the names of all of them.
var Annotations = []string{HTTPAnnotation, HostAnnotation, ClassAnnotation, PathAnnotation}

// The placeholders of a host pattern.
const (
	namePlaceholder      = "{name}"
	namespacePlaceholder = "{namespace}"
)

// Defaults are for Services whose annotations do not say otherwise.
type Defaults struct {
	// Class is the IngressClass. Empty leaves it to the cluster.
	Class string
	// HostPattern is the host, with {name} and {namespace} in place of those of the Service. Empty is any host.
	HostPattern string
}

// ValidateHostPattern returns what a pattern that is not empty has to be like to make the hosts of Services, nil where it is.
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

// hostOf returns what the pattern makes of a Service.
func (d Defaults) hostOf(name, namespace string) string {
	return strings.NewReplacer(namePlaceholder, name, namespacePlaceholder, namespace).Replace(d.HostPattern)
}

// IsAnnotated returns whether the HTTPAnnotation of the Service says anything but that there is to be no Ingress.
func IsAnnotated(service metav1.Object) bool {
	value := service.GetAnnotations()[HTTPAnnotation]
	return value != "" && value != "false"
}

// AsksForIngress returns whether the Service asks for an Ingress.
func AsksForIngress(service metav1.Object) bool {
	return service.GetAnnotations()[HTTPAnnotation] == "true"
}

// Validate returns what keeps the Service from having an Ingress as its annotations and the defaults say. It says nothing
// about a Service that is not annotated.
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
