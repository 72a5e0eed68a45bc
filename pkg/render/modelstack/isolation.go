// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package modelstack

import (
	"cmp"
	"net/netip"
	"slices"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/helper"
	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
)

// dnsPort is the port of DNS servers. A policy applies to the address of the server after the address of its Service was translated.
const dnsPort = 53

// isolate adds the rules of the graph of the stack to the network policy of the box of a component: connections of its dependants, to
// its dependencies, to DNS, and among its own pods. The rules that the box already has are exceptions.
func (r *Renderer) isolate(component *modelv1.ModelStackComponent, spec *modelv1.ModelBoxSpec) {
	policy := ptr.Deref(spec.NetworkPolicy, modelv1.ModelBoxNetworkPolicy{})
	policy.PolicyTypes = []networkingv1.PolicyType{networkingv1.PolicyTypeIngress, networkingv1.PolicyTypeEgress}

	pods := peersOf([]*modelv1.ModelStackComponent{component})
	ingress := []networkingv1.NetworkPolicyIngressRule{{From: pods}}
	ports := policyPorts(spec.Ports)
	switch dependants := r.dependants[component.Name]; {
	case helper.IsExposed(spec.Ports, spec.ServiceType, spec.Ingress != nil || spec.IsRouted()):
		ingress = append(ingress, networkingv1.NetworkPolicyIngressRule{Ports: ports})
	case len(dependants) > 0 && len(ports) > 0: // A rule without ports would be about all ports.
		ingress = append(ingress, networkingv1.NetworkPolicyIngressRule{From: peersOf(dependants), Ports: ports})
	}
	egress := []networkingv1.NetworkPolicyEgressRule{
		{To: pods},
		{Ports: []networkingv1.NetworkPolicyPort{policyPort(corev1.ProtocolUDP, intstr.FromInt32(dnsPort)), policyPort(corev1.ProtocolTCP, intstr.FromInt32(dnsPort))}},
	}
	for _, name := range component.DependsOn {
		if dependency := r.components[name]; dependency != nil && connectionPort(dependency) != 0 {
			egress = append(egress, ruleTo(dependency))
		}
	}
	policy.Ingress, policy.Egress = append(ingress, policy.Ingress...), append(egress, policy.Egress...)
	spec.NetworkPolicy = &policy
}

// peersOf selects the pods of the boxes of the components, and the pods of their Jobs.
func peersOf(components []*modelv1.ModelStackComponent) []networkingv1.NetworkPolicyPeer {
	var boxes, withJobs []string
	for _, component := range components {
		boxes = append(boxes, component.BoxName)
		if component.Box.Before != nil || component.Box.After != nil {
			withJobs = append(withJobs, component.BoxName)
		}
	}
	peers := []networkingv1.NetworkPolicyPeer{{PodSelector: selectorOf(modelv1.SelectorLabel, boxes)}}
	if len(withJobs) > 0 {
		peers = append(peers, networkingv1.NetworkPolicyPeer{PodSelector: selectorOf(modelv1.JobBoxLabel, withJobs)})
	}
	return peers
}

// selectorOf selects objects whose label has one of the values.
func selectorOf(label string, values []string) *metav1.LabelSelector {
	if len(values) == 1 {
		return &metav1.LabelSelector{MatchLabels: map[string]string{label: values[0]}}
	}
	return &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{
		{Key: label, Operator: metav1.LabelSelectorOpIn, Values: slices.Sorted(slices.Values(values))},
	}}
}

// ruleTo allows connections to a dependency. A NetworkPolicy cannot name a host, so the rule for an external component with a DNS name
// allows its port of every address.
func ruleTo(dependency *modelv1.ModelStackComponent) networkingv1.NetworkPolicyEgressRule {
	external := dependency.External
	if external == nil {
		return networkingv1.NetworkPolicyEgressRule{
			To:    []networkingv1.NetworkPolicyPeer{{PodSelector: selectorOf(modelv1.SelectorLabel, []string{dependency.BoxName})}},
			Ports: policyPorts(dependency.Box.Ports),
		}
	}
	rule := networkingv1.NetworkPolicyEgressRule{
		Ports: []networkingv1.NetworkPolicyPort{policyPort(corev1.ProtocolTCP, intstr.FromInt32(external.Port))},
	}
	if address, err := netip.ParseAddr(external.Host); err == nil {
		block := netip.PrefixFrom(address, address.BitLen()).String()
		rule.To = []networkingv1.NetworkPolicyPeer{{IPBlock: &networkingv1.IPBlock{CIDR: block}}}
	}
	return rule
}

// policyPorts returns the ports of the pods that the ports of a Service lead to.
func policyPorts(ports []corev1.ServicePort) []networkingv1.NetworkPolicyPort {
	var targets []networkingv1.NetworkPolicyPort
	for i := range ports {
		target := ports[i].TargetPort
		if target == (intstr.IntOrString{}) {
			target = intstr.FromInt32(ports[i].Port)
		}
		targets = append(targets, policyPort(cmp.Or(ports[i].Protocol, corev1.ProtocolTCP), target))
	}
	return targets
}

func policyPort(protocol corev1.Protocol, port intstr.IntOrString) networkingv1.NetworkPolicyPort {
	return networkingv1.NetworkPolicyPort{Protocol: &protocol, Port: &port}
}
