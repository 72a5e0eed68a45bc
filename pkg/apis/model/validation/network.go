// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package validation

import (
	"context"
	"fmt"
	"net/netip"
	"slices"
	"strings"

	apiequality "k8s.io/apimachinery/pkg/api/equality"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	metav1validation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	netutils "k8s.io/utils/net"

	corevalidation "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/core/validation"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model"
	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
)

// ValidateNetworkName returns what is wrong with the name of a network, or with the start of a generated name if prefix
// is true. It must be a DNS-1123 label, so that it can be the value of a label.
func ValidateNetworkName(name string, prefix bool) []string {
	return apivalidation.NameIsDNSLabel(name, prefix)
}

// ValidateNetwork returns what is wrong with a network that is to be created.
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

// ValidateNetworkUpdate returns what is wrong with changing old into network. The range cannot be changed, because
// addresses may be in use that were taken from it, nor the type, because pods that are attached by different ones do not reach
// each other.
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

// ValidateNetworkStatusUpdate returns what is wrong with changing the status of old into that of network. The spec is not
// looked at: the status of every network that exists can be written.
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

// validateNetworkCIDR returns the range that the value stands for, the zero Prefix if it is not valid. That there has to
// be a value, a tag says.
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
		return netip.Prefix{}, field.ErrorList{field.Invalid(path, value, "must not be all addresses: there are none left that the gateway could lead to")}
	case cidr.IsSingleIP():
		return netip.Prefix{}, field.ErrorList{field.Invalid(path, value,
			fmt.Sprintf("must have a prefix length of at most %d: there is no address left for the gateway", cidr.Bits()-1))}
	}
	return cidr, nil
}

// validateGateway returns what is wrong with the gateway of a range, whatever the range is if that is the zero Prefix.
// That there has to be a value, a tag says.
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
		detail = "must not be a loopback or multicast address"
	case !cidr.IsValid():
	case gateway.BitLen() != cidr.Addr().BitLen():
		detail = fmt.Sprintf("must be of the same IP family as the cidr (%s)", cidr)
	case !cidr.Contains(gateway):
		detail = fmt.Sprintf("must be inside the cidr (%s)", cidr)
	case gateway == cidr.Addr():
		detail = fmt.Sprintf("must not be the first address of the cidr (%s)", cidr)
	case hasBroadcast(cidr) && !cidr.Contains(gateway.Next()):
		detail = fmt.Sprintf("must not be the broadcast address of the cidr (%s)", cidr)
	}
	if detail == "" {
		return nil
	}
	return field.ErrorList{field.Invalid(path, value, detail)}
}

// hasBroadcast returns whether the last address of the range is its broadcast address: not in IPv6, and not where there
// are only two addresses, as RFC 3021 has it.
func hasBroadcast(cidr netip.Prefix) bool {
	return cidr.Addr().Is4() && cidr.Bits() < 31
}

// nameCanonical lets each of the errors say what the value should be.
func nameCanonical(errs field.ErrorList, canonical string) {
	for _, err := range errs {
		if !strings.Contains(err.Detail, canonical) {
			err.Detail += fmt.Sprintf(", should be %q", canonical)
		}
	}
}
