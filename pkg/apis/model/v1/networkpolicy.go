// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package v1

import networkingv1 "k8s.io/api/networking/v1"

// MaxNetworkPolicyRules is the maximum number of rules for each direction of a network policy.
const MaxNetworkPolicyRules = 256

// ModelBoxNetworkPolicy is the NetworkPolicy of a box. Without rules, it allows no incoming connection. A cluster whose network plugin
// does not support network policies ignores it.
type ModelBoxNetworkPolicy struct {
	// policyTypes are the directions that the policy restricts: "Ingress" for incoming connections, "Egress" for outgoing
	// connections. A direction without a rule allows no connection. Defaults to Ingress, and Egress if egress has a rule.
	//
	// Example: [Ingress, Egress]
	// +optional
	// +listType=atomic
	// +k8s:eachVal=+k8s:opaqueType
	// +k8s:validation:maxItems=2
	PolicyTypes []networkingv1.PolicyType `json:"policyTypes,omitempty" protobuf:"bytes,1,rep,name=policyTypes,casttype=k8s.io/api/networking/v1.PolicyType"`

	// ingress are the incoming connections that the policy allows, at most 256 rules as in a NetworkPolicy. A connection is
	// allowed if one of the rules allows it. Defaults to none.
	//
	// Example: [{from: [{podSelector: {matchLabels: {modelbox: web}}}], ports: [{port: 3306}]}]
	// +optional
	// +listType=atomic
	// +k8s:eachVal=+k8s:opaqueType
	// +k8s:validation:maxItems=256
	Ingress []networkingv1.NetworkPolicyIngressRule `json:"ingress,omitempty" protobuf:"bytes,2,rep,name=ingress"`

	// egress are the outgoing connections that the policy allows, at most 256 rules as in a NetworkPolicy. The resolution of DNS
	// names needs a rule for port 53. Defaults to none.
	//
	// Example: [{ports: [{port: 53, protocol: UDP}]}, {to: [{ipBlock: {cidr: 203.0.113.0/24}}]}]
	// +optional
	// +listType=atomic
	// +k8s:eachVal=+k8s:opaqueType
	// +k8s:validation:maxItems=256
	Egress []networkingv1.NetworkPolicyEgressRule `json:"egress,omitempty" protobuf:"bytes,3,rep,name=egress"`
}
