// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package validation

import (
	"fmt"
	"net/netip"
	"strings"
	"unicode"

	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	netutils "k8s.io/utils/net"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/validate"
)

const (
	// maxInterfaceNameLength is that of Linux.
	maxInterfaceNameLength = 15
	// minIPv6MTU is what every link of IPv6 has to carry, by RFC 8200.
	minIPv6MTU = 1280
	// maxRoutes is published as well, by a tag of the served type.
	maxRoutes = 64
)

// networkFields are those that only some types of networks have.
var networkFields = map[model.NetworkType]struct{ needsMaster, hasMaster, needsVLAN, hasVLAN bool }{
	model.NetworkTypeBridge:  {hasVLAN: true},
	model.NetworkTypeMACVLAN: {hasMaster: true},
	model.NetworkTypeIPVLAN:  {hasMaster: true},
	model.NetworkTypeVLAN:    {needsMaster: true, hasMaster: true, needsVLAN: true, hasVLAN: true},
}

// attachmentOf is what validateAttachment is about. The rest of a network cannot be changed, or is validated by itself.
func attachmentOf(spec *model.NetworkSpec) model.NetworkSpec {
	attachment := *spec
	attachment.CIDR, attachment.Gateway = "", ""
	return attachment
}

// validateAttachment returns what is wrong with how pods are attached to a network of the range, whatever the range is if that
// is the zero Prefix. Which types and numbers there are, tags say.
func validateAttachment(spec *model.NetworkSpec, cidr netip.Prefix, path *field.Path) field.ErrorList {
	errs := validateGatewayRoutes(spec.Routes, cidr, path.Child("routes"))
	if cidr.IsValid() && cidr.Addr().Is6() && spec.MTU > 0 && spec.MTU < minIPv6MTU {
		errs = append(errs, field.Invalid(path.Child("mtu"), spec.MTU, fmt.Sprintf("must be at least %d for IPv6", minIPv6MTU)))
	}
	fields, isKnown := networkFields[spec.Type]
	if !isKnown {
		return errs
	}
	switch {
	case spec.Master == "" && fields.needsMaster:
		errs = append(errs, field.Required(path.Child("master"), fmt.Sprintf("type %q is a part of an interface of the nodes", spec.Type)))
	case spec.Master != "" && !fields.hasMaster:
		errs = append(errs, field.Forbidden(path.Child("master"), fmt.Sprintf("type %q has none", spec.Type)))
	case spec.Master != "":
		errs = append(errs, validateInterfaceName(spec.Master, path.Child("master"))...)
	}
	switch {
	case spec.VLAN == 0 && fields.needsVLAN:
		errs = append(errs, field.Required(path.Child("vlan"), fmt.Sprintf("type %q is one of the VLANs of an interface", spec.Type)))
	case spec.VLAN != 0 && !fields.hasVLAN:
		errs = append(errs, field.Forbidden(path.Child("vlan"), fmt.Sprintf("type %q has none: name an interface of the VLAN in master", spec.Type)))
	}
	return errs
}

// validateInterfaceName accepts what Linux accepts as the name of an interface.
func validateInterfaceName(name string, path *field.Path) field.ErrorList {
	switch {
	case len(name) > maxInterfaceNameLength:
		return field.ErrorList{field.TooLong(path, name, maxInterfaceNameLength)}
	case name == "." || name == "..":
		return field.ErrorList{field.Invalid(path, name, "must not be '.' or '..'")}
	case strings.ContainsAny(name, "/:") || strings.ContainsFunc(name, func(r rune) bool { return r > unicode.MaxASCII || !unicode.IsGraphic(r) || unicode.IsSpace(r) }):
		return field.ErrorList{field.Invalid(path, name, "must be the name of an interface: printable ASCII characters without blanks, '/' and ':'")}
	}
	return nil
}

// validateGatewayRoutes returns what is wrong with the ranges that the gateway leads to.
func validateGatewayRoutes(routes []string, cidr netip.Prefix, path *field.Path) field.ErrorList {
	if len(routes) > maxRoutes {
		return field.ErrorList{field.TooMany(path, len(routes), maxRoutes)}
	}
	var errs field.ErrorList
	for i, route := range validate.Each(routes, &errs) {
		errs = append(errs, validateNetworkRoute(route, cidr, path.Index(i))...)
	}
	return errs
}

func validateNetworkRoute(value string, cidr netip.Prefix, path *field.Path) field.ErrorList {
	if errs := validation.IsValidCIDR(path, value); len(errs) > 0 {
		if _, network, err := netutils.ParseCIDRSloppy(value); err == nil {
			nameCanonical(errs, network.String())
		}
		return errs
	}
	route := netip.MustParsePrefix(value)
	detail := ""
	switch {
	case route.Bits() == 0:
		detail = "must not be all addresses: the default route of a pod is that of the cluster's network"
	case !cidr.IsValid():
	case route.Addr().BitLen() != cidr.Addr().BitLen():
		detail = fmt.Sprintf("must be of the same IP family as the cidr (%s)", cidr)
	case cidr.Overlaps(route):
		detail = fmt.Sprintf("must be outside the cidr (%s)", cidr)
	}
	if detail == "" {
		return nil
	}
	return field.ErrorList{field.Invalid(path, value, detail)}
}
