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

// maxHostnameLength is the maximum length of a host name on Linux.
const maxHostnameLength = 64

// The limits of resolvers in C libraries.
const (
	maxNameservers      = 3
	maxSearches         = 32
	maxSearchCharacters = 2048
)

var dnsPolicies = []corev1.DNSPolicy{corev1.DNSClusterFirst, corev1.DNSClusterFirstWithHostNet, corev1.DNSDefault, corev1.DNSNone}

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

// validateHostNamespaces validates what a pod may share with its node.
func validateHostNamespaces(spec *corev1.PodSpec, path *field.Path) field.ErrorList {
	errs := slices.Concat(
		validateHostNetworkPorts(spec, path.Child("containers")),
		validateHostUsers(spec, path),
	)
	if spec.HostPID && isTrue(spec.ShareProcessNamespace) {
		errs = append(errs, field.Invalid(path.Child("shareProcessNamespace"), true, "must be false or left out when hostPID is true"))
	}
	return errs
}

// validateHostNetworkPorts requires that no port of a container is another one on the host's network.
func validateHostNetworkPorts(spec *corev1.PodSpec, path *field.Path) field.ErrorList {
	if !spec.HostNetwork {
		return nil
	}
	var errs field.ErrorList
	for i := range validate.Each(spec.Containers, &errs) {
		for j, port := range validate.Each(spec.Containers[i].Ports, &errs) {
			if port.HostPort != 0 && port.HostPort != port.ContainerPort {
				errs = append(errs, field.Invalid(path.Index(i).Child("ports").Index(j).Child("hostPort"), port.HostPort,
					"must be containerPort or left out when hostNetwork is true"))
			}
		}
	}
	return errs
}

// validateHostUsers refuses what a pod with its own users cannot have of its node.
func validateHostUsers(spec *corev1.PodSpec, path *field.Path) field.ErrorList {
	if spec.HostUsers == nil || *spec.HostUsers {
		return nil
	}
	const detail = "may not be given when hostUsers is false"
	errs := validate.Forbidden(detail, path, []validate.Field{
		{Name: "hostNetwork", Set: spec.HostNetwork},
		{Name: "hostPID", Set: spec.HostPID},
		{Name: "hostIPC", Set: spec.HostIPC},
	})
	visitContainers(spec, path, func(container *corev1.Container, containerPath *field.Path) {
		errs = append(errs, validate.Forbidden(detail, containerPath, []validate.Field{{Name: "volumeDevices", Set: len(container.VolumeDevices) > 0}})...)
	})
	return errs
}

// visitContainers calls visit for each container of the pod, init containers first.
func visitContainers(spec *corev1.PodSpec, path *field.Path, visit func(*corev1.Container, *field.Path)) {
	for i := range spec.InitContainers {
		visit(&spec.InitContainers[i], path.Child("initContainers").Index(i))
	}
	for i := range spec.Containers {
		visit(&spec.Containers[i], path.Child("containers").Index(i))
	}
}

func validatePodDNSConfig(spec *corev1.PodSpec, path *field.Path) field.ErrorList {
	errs := validate.OptionalEnum(spec.DNSPolicy, dnsPolicies, path.Child("dnsPolicy"))
	config := spec.DNSConfig
	path = path.Child("dnsConfig")
	if spec.DNSPolicy == corev1.DNSNone && (config == nil || len(config.Nameservers) == 0) {
		errs = append(errs, field.Required(path.Child("nameservers"), "must provide at least one DNS nameserver when `dnsPolicy` is None"))
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
