// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package validation

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/validate"
)

// The limits of resolvers in C libraries.
const (
	maxNameservers      = 3
	maxSearches         = 32
	maxSearchCharacters = 2048
)

var dnsPolicies = []corev1.DNSPolicy{corev1.DNSClusterFirst, corev1.DNSClusterFirstWithHostNet, corev1.DNSDefault, corev1.DNSNone}

func validatePodDNSConfig(spec *corev1.PodSpec, path *field.Path) field.ErrorList {
	errs := validate.OptionalEnum(spec.DNSPolicy, dnsPolicies, path.Child("dnsPolicy"))
	config := spec.DNSConfig
	path = path.Child("dnsConfig")
	if spec.DNSPolicy == corev1.DNSNone && (config == nil || len(config.Nameservers) == 0) {
		errs = append(errs, field.Required(path.Child("nameservers"), "must be given when dnsPolicy is None"))
	}
	if config == nil {
		return errs
	}
	return slices.Concat(errs,
		validateNameservers(config.Nameservers, path.Child("nameservers")),
		validateDNSSearches(config.Searches, path.Child("searches")),
		validateDNSOptions(config.Options, path.Child("options")),
	)
}

func validateNameservers(nameservers []string, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	if len(nameservers) > maxNameservers {
		errs = append(errs, field.TooMany(path, len(nameservers), maxNameservers))
	}
	for i, nameserver := range validate.Each(nameservers, &errs) {
		errs = append(errs, validateIP(nameserver, path.Index(i))...)
	}
	return errs
}

// validateDNSSearches accepts "." and names with a final dot.
func validateDNSSearches(searches []string, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	if len(searches) > maxSearches {
		errs = append(errs, field.TooMany(path, len(searches), maxSearches))
	}
	if list := strings.Join(searches, " "); len(list) > maxSearchCharacters {
		detail := fmt.Sprintf("must have at most %d characters together, with a space between each", maxSearchCharacters)
		errs = append(errs, field.Invalid(path, list, detail))
	}
	for i, search := range validate.Each(searches, &errs) {
		if search != "." {
			errs = append(errs, validate.Format(strings.TrimSuffix(search, "."), validation.IsDNS1123SubdomainWithUnderscore, path.Index(i))...)
		}
	}
	return errs
}

func validateDNSOptions(options []corev1.PodDNSConfigOption, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	for i := range validate.Each(options, &errs) {
		errs = append(errs, validate.Required(options[i].Name, path.Index(i).Child("name"), `must be an option of resolv.conf, such as "ndots"`)...)
	}
	return errs
}

func validateIP(ip string, path *field.Path) field.ErrorList {
	return validation.IsValidIPForLegacyField(path, ip, true, nil)
}
