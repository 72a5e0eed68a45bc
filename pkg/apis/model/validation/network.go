// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package validation

import (
	"context"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"unicode"

	apiequality "k8s.io/apimachinery/pkg/api/equality"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	metav1validation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	netutils "k8s.io/utils/net"

	corevalidation "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/core/validation"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model"
	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/networkattachment"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/validate"
)

// ValidateNetworkName validates the name of a network, or the prefix of a generated name if prefix is true. It must be a DNS-1123
// label, so that it can be the value of a label.
func ValidateNetworkName(name string, prefix bool) []string {
	return apivalidation.NameIsDNSLabel(name, prefix)
}

// ValidateNetwork validates a new network.
func ValidateNetwork(ctx context.Context, network *model.Network) field.ErrorList {
	path := field.NewPath("spec")
	cidr, errs := validateNetworkCIDR(network.Spec.CIDR, path.Child("cidr"))
	return slices.Concat(
		apivalidation.ValidateObjectMeta(&network.ObjectMeta, true, ValidateNetworkName, field.NewPath("metadata")),
		corevalidation.ValidateFinalizerNames(network.Finalizers, field.NewPath("metadata", "finalizers")),
		validateAnnotations(network.Annotations, field.NewPath("metadata", "annotations")),
		validateDeclaredNetworkSpec(ctx, &network.Spec, nil, path),
		errs,
		validateGateway(network.Spec.Gateway, cidr, path.Child("gateway")),
		validateAttachment(&network.Spec, cidr, path),
	)
}

// ValidateNetworkUpdate validates an update of old to network. The range cannot be changed, because pods may have addresses of it.
// The type cannot be changed, because pods that are attached by different types do not reach each other.
func ValidateNetworkUpdate(ctx context.Context, network, old *model.Network) field.ErrorList {
	path := field.NewPath("spec")
	errs := slices.Concat(
		apivalidation.ValidateObjectMetaUpdate(&network.ObjectMeta, &old.ObjectMeta, field.NewPath("metadata")),
		validateFinalizersUpdate(network.Finalizers, old.Finalizers, field.NewPath("metadata", "finalizers")),
		validateAnnotationsUpdate(network.Annotations, old.Annotations, field.NewPath("metadata", "annotations")),
		validateDeclaredNetworkSpec(ctx, &network.Spec, &old.Spec, path),
		apivalidation.ValidateImmutableField(network.Spec.CIDR, old.Spec.CIDR, path.Child("cidr")),
		apivalidation.ValidateImmutableField(network.Spec.Type, old.Spec.Type, path.Child("type")),
	)
	cidr, _ := validateNetworkCIDR(network.Spec.CIDR, path.Child("cidr"))
	if network.Spec.Gateway != old.Spec.Gateway {
		errs = append(errs, validateGateway(network.Spec.Gateway, cidr, path.Child("gateway"))...)
	}
	if !apiequality.Semantic.DeepEqual(attachmentOf(&network.Spec), attachmentOf(&old.Spec)) {
		errs = append(errs, validateAttachment(&network.Spec, cidr, path)...)
	}
	return errs
}

// ValidateNetworkStatusUpdate validates an update of the status. It does not validate the spec, so that the controller can write
// the status of every network.
func ValidateNetworkStatusUpdate(ctx context.Context, network, old *model.Network) field.ErrorList {
	return slices.Concat(
		apivalidation.ValidateObjectMetaUpdate(&network.ObjectMeta, &old.ObjectMeta, field.NewPath("metadata")),
		validateDeclared(ctx, &network.Status, &old.Status,
			modelv1.Convert_model_NetworkStatus_To_v1_NetworkStatus, modelv1.Validate_NetworkStatus, field.NewPath("status")),
		metav1validation.ValidateConditions(network.Status.Conditions, field.NewPath("status", "conditions")),
	)
}

func validateDeclaredNetworkSpec(ctx context.Context, spec, old *model.NetworkSpec, path *field.Path) field.ErrorList {
	return validateDeclared(ctx, spec, old, modelv1.Convert_model_NetworkSpec_To_v1_NetworkSpec, modelv1.Validate_NetworkSpec, path)
}

// validateNetworkCIDR returns the range of the value, the zero Prefix if it is not valid. A tag of the served type requires that
// there is a value.
func validateNetworkCIDR(value string, path *field.Path) (netip.Prefix, field.ErrorList) {
	if value == "" {
		return netip.Prefix{}, nil
	}
	if errs := validation.IsValidCIDR(path, value); len(errs) > 0 {
		if _, network, err := netutils.ParseCIDRSloppy(value); err == nil {
			nameCanonical(errs, network.String())
		}
		return netip.Prefix{}, errs
	}
	cidr := netip.MustParsePrefix(value)
	switch {
	case cidr.Bits() == 0:
		return netip.Prefix{}, field.ErrorList{field.Invalid(path, value, mustNotContainAllAddresses)}
	case cidr.IsSingleIP():
		return netip.Prefix{}, field.ErrorList{field.Invalid(path, value, mustHaveAddressForGateway(cidr.Bits()-1))}
	}
	return cidr, nil
}

// validateGateway validates the gateway of a range. It accepts any range if cidr is the zero Prefix. A tag of the served type
// requires that there is a value.
func validateGateway(value string, cidr netip.Prefix, path *field.Path) field.ErrorList {
	if value == "" {
		return nil
	}
	if errs := validation.IsValidIP(path, value); len(errs) > 0 {
		if ip := netutils.ParseIPSloppy(value); ip != nil {
			nameCanonical(errs, ip.String())
		}
		return errs
	}
	gateway := netip.MustParseAddr(value)
	detail := ""
	switch {
	case gateway.IsLoopback() || gateway.IsMulticast():
		detail = mustBeUnicast
	case !cidr.IsValid():
	case gateway.BitLen() != cidr.Addr().BitLen():
		detail = MustHaveFamilyOfCIDR(cidr.String())
	case !cidr.Contains(gateway):
		detail = MustBeInsideCIDR(cidr.String())
	case gateway == cidr.Addr():
		detail = MustNotBeFirstAddress(cidr.String())
	case hasBroadcast(cidr) && !cidr.Contains(gateway.Next()):
		detail = MustNotBeBroadcast(cidr.String())
	}
	if detail == "" {
		return nil
	}
	return field.ErrorList{field.Invalid(path, value, detail)}
}

// hasBroadcast returns whether the last address of the range is its broadcast address. IPv6 has none, and a range of two addresses
// has none according to RFC 3021.
func hasBroadcast(cidr netip.Prefix) bool {
	return cidr.Addr().Is4() && cidr.Bits() < 31
}

// nameCanonical adds the canonical form of the value to each error.
func nameCanonical(errs field.ErrorList, canonical string) {
	for _, err := range errs {
		if !strings.Contains(err.Detail, canonical) {
			err.Detail += fmt.Sprintf(", should be %q", canonical)
		}
	}
}

const (
	// maxInterfaceNameLength is the limit of Linux.
	maxInterfaceNameLength = 15
	// minIPv6MTU is the minimum MTU of a link according to RFC 8200.
	minIPv6MTU = 1280
	// maxRoutes is also in a tag of the served type.
	maxRoutes = 64
)

// networkFields are the fields that only some types of networks have.
var networkFields = map[model.NetworkType]struct{ needsMaster, hasMaster, needsVLAN, hasVLAN bool }{
	model.NetworkTypeBridge:  {hasVLAN: true},
	model.NetworkTypeMACVLAN: {hasMaster: true},
	model.NetworkTypeIPVLAN:  {hasMaster: true},
	model.NetworkTypeVLAN:    {needsMaster: true, hasMaster: true, needsVLAN: true, hasVLAN: true},
}

// attachmentOf returns the fields that validateAttachment validates.
func attachmentOf(spec *model.NetworkSpec) model.NetworkSpec {
	attachment := *spec
	attachment.CIDR, attachment.Gateway = "", ""
	return attachment
}

// validateAttachment validates the fields that describe how pods are attached to the network. It accepts any range if cidr is the
// zero Prefix. Tags of the served type have the types and the limits of numbers.
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
		errs = append(errs, field.Required(path.Child("master"), mustUseWithType(spec.Type)))
	case spec.Master != "" && !fields.hasMaster:
		errs = append(errs, field.Forbidden(path.Child("master"), mustNotUseWithType(spec.Type)))
	case spec.Master != "":
		errs = append(errs, validateInterfaceName(spec.Master, path.Child("master"))...)
	}
	switch {
	case spec.VLAN == 0 && fields.needsVLAN:
		errs = append(errs, field.Required(path.Child("vlan"), mustUseWithType(spec.Type)))
	case spec.VLAN != 0 && !fields.hasVLAN:
		errs = append(errs, field.Forbidden(path.Child("vlan"), mustUseMasterForVLAN(spec.Type)))
	}
	return errs
}

// validateInterfaceName accepts what Linux accepts as the name of an interface.
func validateInterfaceName(name string, path *field.Path) field.ErrorList {
	switch {
	case len(name) > maxInterfaceNameLength:
		return field.ErrorList{field.TooLong(path, name, maxInterfaceNameLength)}
	case name == "." || name == "..":
		return field.ErrorList{field.Invalid(path, name, mustNotBeDots)}
	case strings.ContainsAny(name, "/:") || strings.ContainsFunc(name, func(r rune) bool { return r > unicode.MaxASCII || !unicode.IsGraphic(r) || unicode.IsSpace(r) }):
		return field.ErrorList{field.Invalid(path, name, mustBeInterfaceName)}
	}
	return nil
}

// validateGatewayRoutes validates the ranges that pods reach through the gateway.
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
		detail = mustNotBeDefaultRoute
	case !cidr.IsValid():
	case route.Addr().BitLen() != cidr.Addr().BitLen():
		detail = MustHaveFamilyOfCIDR(cidr.String())
	case cidr.Overlaps(route):
		detail = mustBeOutsideCIDR(cidr.String())
	}
	if detail == "" {
		return nil
	}
	return field.ErrorList{field.Invalid(path, value, detail)}
}

// validateNetworks validates the networks of a box. A tag of the served type refuses duplicates.
func validateNetworks(spec *model.ModelBoxSpec, specPath *field.Path) field.ErrorList {
	if len(spec.Networks) == 0 {
		return nil
	}
	path := specPath.Child("networks")
	var errs field.ErrorList
	for i, name := range validate.Each(spec.Networks, &errs) {
		errs = append(errs, validate.Invalid(path.Index(i), name, ValidateNetworkName(name, false))...)
	}
	taken := func(path *field.Path, annotations map[string]string) {
		if _, given := annotations[networkattachment.NetworksAnnotation]; given {
			errs = append(errs, field.Forbidden(path.Key(networkattachment.NetworksAnnotation), mustUseNetworksOfBox))
		}
	}
	taken(specPath.Child("annotations"), spec.Annotations)
	if spec.PodTemplate == nil {
		return errs
	}
	taken(specPath.Child("podTemplate", "metadata", "annotations"), spec.PodTemplate.Annotations)
	if spec.PodTemplate.Spec.HostNetwork {
		errs = append(errs, field.Forbidden(path, mustNotUseHostNetwork))
	}
	return errs
}
