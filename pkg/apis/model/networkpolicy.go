// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package model

import networkingv1 "k8s.io/api/networking/v1"

// ModelBoxNetworkPolicy is the NetworkPolicy of a box. Without rules, it allows no incoming connection.
type ModelBoxNetworkPolicy struct {
	PolicyTypes []networkingv1.PolicyType
	Ingress     []networkingv1.NetworkPolicyIngressRule
	Egress      []networkingv1.NetworkPolicyEgressRule
}
