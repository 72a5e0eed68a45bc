// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package v1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// +genclient
// +genclient:noStatus
// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object

// Network is a range of IP addresses with a gateway, IPv4 or IPv6.
type Network struct {
	// +k8s:opaqueType
	metav1.TypeMeta `json:",inline"`

	// metadata is the standard object metadata. metadata.name must be a DNS-1123 label of at most 63 characters: lower
	// case letters, digits and '-', starting and ending with a letter or a digit.
	//
	// Example: {name: lan, namespace: default}
	// +optional
	// +k8s:opaqueType
	metav1.ObjectMeta `json:"metadata,omitempty" protobuf:"bytes,1,opt,name=metadata"`

	// spec is what the network should be. Required.
	//
	// Example: {cidr: 192.168.0.0/16, gateway: 192.168.0.1}
	Spec NetworkSpec `json:"spec" protobuf:"bytes,2,opt,name=spec"`
}

// NetworkSpec is the desired state of a Network.
type NetworkSpec struct {
	// cidr is the range of addresses, IPv4 or IPv6, in canonical form: no bits set beyond the prefix length, no leading
	// zeros, IPv6 in lower case and as short as RFC 5952 has it. It must have at least two addresses, and leave some
	// outside of it: the prefix length is at least 1, and at most 31 for IPv4 and 127 for IPv6. It cannot be changed.
	// Required.
	//
	// Example: 192.168.0.0/16
	// +k8s:required
	// +k8s:validation:maxLength=43
	CIDR string `json:"cidr" protobuf:"bytes,1,opt,name=cidr"`

	// gateway is the address that leads out of the network, in canonical form. It must be inside the cidr, and neither its
	// first address (the network address of IPv4, the subnet-router anycast address of IPv6) nor, for IPv4, its last, the
	// broadcast address, which a /31 does not have (RFC 3021); and it must not be a loopback or multicast address.
	// Required.
	//
	// Example: 192.168.0.1
	// +k8s:required
	// +k8s:validation:maxLength=39
	Gateway string `json:"gateway" protobuf:"bytes,2,opt,name=gateway"`
}

// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object

// NetworkList is a list of Networks.
type NetworkList struct {
	metav1.TypeMeta `json:",inline"`

	// metadata is the standard list metadata.
	//
	// Example: {resourceVersion: "4711"}
	// +optional
	metav1.ListMeta `json:"metadata,omitempty" protobuf:"bytes,1,opt,name=metadata"`

	// items are the networks. Required.
	//
	// Example: [{metadata: {name: lan}, spec: {cidr: 192.168.0.0/16, gateway: 192.168.0.1}}]
	Items []Network `json:"items" protobuf:"bytes,2,rep,name=items"`
}
