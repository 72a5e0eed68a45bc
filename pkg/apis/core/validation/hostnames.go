// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package validation

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/validate"
)

// maxHostnameLength is that of a host name on Linux.
const maxHostnameLength = 64

func validateHostnames(spec *corev1.PodSpec, path *field.Path) field.ErrorList {
	return slices.Concat(
		validateOptionalDNSLabel(spec.Hostname, path.Child("hostname")),
		validateOptionalDNSLabel(spec.Subdomain, path.Child("subdomain")),
		validateHostnameOverride(spec, path.Child("hostnameOverride")),
	)
}

func validateOptionalDNSLabel(name string, path *field.Path) field.ErrorList {
	if name == "" {
		return nil
	}
	return validate.Format(name, validation.IsDNS1123Label, path)
}

// validateHostnameOverride refuses it together with what names the host otherwise.
func validateHostnameOverride(spec *corev1.PodSpec, path *field.Path) field.ErrorList {
	if spec.HostnameOverride == nil {
		return nil
	}
	errs := validate.Format(*spec.HostnameOverride, validation.IsDNS1123Subdomain, path)
	if len(*spec.HostnameOverride) > maxHostnameLength {
		errs = append(errs, field.TooLong(path, *spec.HostnameOverride, maxHostnameLength))
	}
	if isTrue(spec.SetHostnameAsFQDN) {
		errs = append(errs, field.Forbidden(path, "may not be given when setHostnameAsFQDN is true"))
	}
	if spec.HostNetwork {
		errs = append(errs, field.Forbidden(path, "may not be given when hostNetwork is true"))
	}
	return errs
}

// validateHostAliases requires that no address is listed twice: it is the key of the list, and server-side apply takes
// each key once.
func validateHostAliases(aliases []corev1.HostAlias, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	addresses := validate.Unique[string]{}
	for i := range validate.Each(aliases, &errs) {
		alias, aliasPath := &aliases[i], path.Index(i)
		errs = append(errs, validateIP(alias.IP, aliasPath.Child("ip"))...)
		errs = append(errs, addresses.Add(alias.IP, aliasPath.Child("ip"))...)
		for j, hostname := range validate.Each(alias.Hostnames, &errs) {
			errs = append(errs, validate.Format(hostname, validation.IsDNS1123Subdomain, aliasPath.Child("hostnames").Index(j))...)
		}
	}
	return errs
}
