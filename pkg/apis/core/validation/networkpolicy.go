// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package validation

import (
	"net/netip"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1validation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/validate"
)

var (
	policyTypes     = []networkingv1.PolicyType{networkingv1.PolicyTypeEgress, networkingv1.PolicyTypeIngress}
	policyProtocols = []corev1.Protocol{corev1.ProtocolSCTP, corev1.ProtocolTCP, corev1.ProtocolUDP}
)

// ValidateNetworkPolicySpec validates the rules and the types of a NetworkPolicy. It does not validate the selector of the pods.
func ValidateNetworkPolicySpec(spec *networkingv1.NetworkPolicySpec, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	for i, rule := range validate.Each(spec.Ingress, &errs) {
		errs = append(errs, validatePolicyRule(rule.Ports, rule.From, "from", path.Child("ingress").Index(i))...)
	}
	for i, rule := range validate.Each(spec.Egress, &errs) {
		errs = append(errs, validatePolicyRule(rule.Ports, rule.To, "to", path.Child("egress").Index(i))...)
	}
	if len(spec.PolicyTypes) > len(policyTypes) {
		return append(errs, field.Invalid(path.Child("policyTypes"), spec.PolicyTypes, "may not specify more than two policyTypes"))
	}
	for i, policyType := range spec.PolicyTypes {
		errs = append(errs, validate.Enum(policyType, policyTypes, path.Child("policyTypes").Index(i))...)
	}
	return errs
}

func validatePolicyRule(ports []networkingv1.NetworkPolicyPort, peers []networkingv1.NetworkPolicyPeer, peersField string, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	for i := range validate.Each(ports, &errs) {
		errs = append(errs, validatePolicyPort(&ports[i], path.Child("ports").Index(i))...)
	}
	for i := range validate.Each(peers, &errs) {
		errs = append(errs, validatePolicyPeer(&peers[i], path.Child(peersField).Index(i))...)
	}
	return errs
}

func validatePolicyPort(port *networkingv1.NetworkPolicyPort, path *field.Path) field.ErrorList {
	errs := validate.EnumPointer(port.Protocol, policyProtocols, path.Child("protocol"))
	endPath := path.Child("endPort")
	switch {
	case port.Port == nil && port.EndPort != nil:
		return append(errs, field.Invalid(endPath, *port.EndPort, "may not be specified when `port` is not specified"))
	case port.Port == nil:
		return errs
	case port.Port.Type == intstr.String && port.EndPort != nil:
		errs = append(errs, field.Invalid(endPath, *port.EndPort, "may not be specified when `port` is non-numeric"))
	}
	if port.Port.Type == intstr.String {
		return append(errs, validate.Invalid(path.Child("port"), port.Port.StrVal, validation.IsValidPortName(port.Port.StrVal))...)
	}
	errs = append(errs, validate.Invalid(path.Child("port"), port.Port.IntVal, validation.IsValidPortNum(int(port.Port.IntVal)))...)
	if port.EndPort == nil {
		return errs
	}
	if *port.EndPort < port.Port.IntVal {
		errs = append(errs, field.Invalid(endPath, *port.EndPort, "must be greater than or equal to `port`"))
	}
	return append(errs, validate.Invalid(endPath, *port.EndPort, validation.IsValidPortNum(int(*port.EndPort)))...)
}

func validatePolicyPeer(peer *networkingv1.NetworkPolicyPeer, path *field.Path) field.ErrorList {
	if peer.PodSelector == nil && peer.NamespaceSelector == nil && peer.IPBlock == nil {
		return field.ErrorList{field.Required(path, "must specify a peer")}
	}
	var errs field.ErrorList
	if peer.PodSelector != nil {
		errs = append(errs, metav1validation.ValidateLabelSelector(peer.PodSelector, metav1validation.LabelSelectorValidationOptions{}, path.Child("podSelector"))...)
	}
	if peer.NamespaceSelector != nil {
		errs = append(errs, metav1validation.ValidateLabelSelector(peer.NamespaceSelector, metav1validation.LabelSelectorValidationOptions{}, path.Child("namespaceSelector"))...)
	}
	if peer.IPBlock == nil {
		return errs
	}
	if peer.PodSelector != nil || peer.NamespaceSelector != nil {
		errs = append(errs, field.Forbidden(path, "may not specify both ipBlock and another peer"))
	}
	return append(errs, validateIPBlock(peer.IPBlock, path.Child("ipBlock"))...)
}

func validateIPBlock(block *networkingv1.IPBlock, path *field.Path) field.ErrorList {
	cidrPath := path.Child("cidr")
	if block.CIDR == "" {
		return field.ErrorList{field.Required(cidrPath, "must be a network, such as 203.0.113.0/24")}
	}
	errs := validation.IsValidCIDRForLegacyField(cidrPath, block.CIDR, true, nil)
	network, err := netip.ParsePrefix(block.CIDR)
	for i, except := range block.Except {
		exceptPath := path.Child("except").Index(i)
		errs = append(errs, validation.IsValidCIDRForLegacyField(exceptPath, except, true, nil)...)
		part, partErr := netip.ParsePrefix(except)
		if err != nil || partErr != nil {
			continue
		}
		if !network.Contains(part.Addr()) || network.Bits() >= part.Bits() {
			errs = append(errs, field.Invalid(exceptPath, except, "must be a strict subset of `cidr`"))
		}
	}
	return errs
}
