// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package validation

import (
	"fmt"
	"strings"

	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	netutils "k8s.io/utils/net"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/validate"
)

// IngressClassAnnotation named the class of an Ingress before that had a field for it.
const IngressClassAnnotation = "kubernetes.io/ingress.class"

var ingressPathTypes = []networkingv1.PathType{
	networkingv1.PathTypeExact, networkingv1.PathTypeImplementationSpecific, networkingv1.PathTypePrefix,
}

// What no path has that is matched by its elements.
var (
	invalidPathSequences = []string{"//", "/./", "/../", "%2f", "%2F"}
	invalidPathSuffixes  = []string{"/..", "/."}
)

// ValidateIngressHost returns what is wrong with the host of a rule of an Ingress: a DNS name, of which the first label may be
// "*".
func ValidateIngressHost(host string, path *field.Path) field.ErrorList {
	switch {
	case netutils.ParseIPSloppy(host) != nil:
		return field.ErrorList{field.Invalid(path, host, "must be a DNS name, not an IP address")}
	case strings.Contains(host, "*"):
		return validate.Invalid(path, host, validation.IsWildcardDNS1123Subdomain(host))
	default:
		return validate.Format(host, validation.IsDNS1123Subdomain, path)
	}
}

// ValidateIngressPathType returns what is wrong with how a path of an Ingress is matched.
func ValidateIngressPathType(pathType networkingv1.PathType, path *field.Path) field.ErrorList {
	return validate.Enum(pathType, ingressPathTypes, path)
}

// ValidateIngressPath returns what is wrong with a path of an Ingress that is matched so.
func ValidateIngressPath(value string, pathType networkingv1.PathType, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	isMatchedByElements := pathType == networkingv1.PathTypeExact || pathType == networkingv1.PathTypePrefix
	if !strings.HasPrefix(value, "/") && (value != "" || isMatchedByElements) {
		errs = append(errs, field.Invalid(path, value, "must be an absolute path"))
	}
	if !isMatchedByElements {
		return errs
	}
	for _, sequence := range invalidPathSequences {
		if strings.Contains(value, sequence) {
			errs = append(errs, field.Invalid(path, value, fmt.Sprintf("must not contain '%s'", sequence)))
		}
	}
	for _, suffix := range invalidPathSuffixes {
		if strings.HasSuffix(value, suffix) {
			errs = append(errs, field.Invalid(path, value, fmt.Sprintf("cannot end with '%s'", suffix)))
		}
	}
	return errs
}

// ValidateIngressClassName returns what is wrong with the name of an IngressClass.
func ValidateIngressClassName(name string, path *field.Path) field.ErrorList {
	return validate.Format(name, validation.IsDNS1123Subdomain, path)
}
