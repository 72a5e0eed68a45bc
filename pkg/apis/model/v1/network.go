// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package v1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// NetworkProtectionFinalizer is on a network that is not to go while boxes use it.
const NetworkProtectionFinalizer = "model.github.com/network-protection"

// NetworkType is how the pods of a node are connected to a network: one of the reference plugins of CNI.
// +enum
// +k8s:enum
type NetworkType string

const (
	// NetworkTypeBridge connects them to a bridge of the node, which has the address of the gateway.
	NetworkTypeBridge NetworkType = "bridge"
	// NetworkTypeMACVLAN connects them to the network of an interface of the node, each by an address of its own of that.
	NetworkTypeMACVLAN NetworkType = "macvlan"
	// NetworkTypeIPVLAN connects them to the network of an interface of the node by the address that it has there.
	NetworkTypeIPVLAN NetworkType = "ipvlan"
	// NetworkTypeVLAN connects them to a VLAN of an interface of the node.
	NetworkTypeVLAN NetworkType = "vlan"
)

// +genclient
// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object

// Network is a range of IP addresses with a gateway, IPv4 or IPv6. Where the cluster serves NetworkAttachmentDefinitions of
// k8s.cni.cncf.io/v1, it becomes one, and boxes that name it in spec.networks have an interface in it.
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

	// status is what is known of the network, as the controller last observed it.
	//
	// Example: {boxes: [web], usedAddresses: 4, freeAddresses: 65529}
	// +optional
	Status NetworkStatus `json:"status,omitempty" protobuf:"bytes,3,opt,name=status"`
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

	// gateway is the address of the router of the network, in canonical form. It must be in the cidr. It must not be the first
	// address of the cidr (the network address of IPv4, the subnet-router anycast address of IPv6), and with IPv4 not the last
	// one, the broadcast address, which a /31 does not have (RFC 3021). It must not be a loopback or multicast address. Required.
	//
	// Example: 192.168.0.1
	// +k8s:required
	// +k8s:validation:maxLength=39
	Gateway string `json:"gateway" protobuf:"bytes,2,opt,name=gateway"`

	// type is how pods are connected to the network, as the reference plugins of CNI do it: "bridge" to a bridge of their
	// node, which has the address of the gateway; "macvlan" and "ipvlan" to the network of the interface of the node that
	// master names; "vlan" to a VLAN of that. It cannot be changed. Defaults to "bridge".
	//
	// Example: vlan
	// +optional
	// +k8s:required
	Type NetworkType `json:"type,omitempty" protobuf:"bytes,3,opt,name=type,casttype=NetworkType"`

	// master is the interface of the nodes that leads to the network. It is necessary for type "vlan", and may be given for
	// "macvlan" and "ipvlan". A bridge has none. Defaults to none, which is the interface of the node's default route.
	//
	// Example: eth1
	// +optional
	Master string `json:"master,omitempty" protobuf:"bytes,4,opt,name=master"`

	// vlan is the number of the VLAN, from 1 to 4094. It is necessary for type "vlan", and may be given for "bridge", whose
	// pods are tagged with it then. Defaults to none.
	//
	// Example: 100
	// +optional
	// +k8s:optional
	// +k8s:minimum=1
	// +k8s:maximum=4094
	VLAN int32 `json:"vlan,omitempty" protobuf:"varint,5,opt,name=vlan"`

	// mtu is the size in bytes of the largest packet on the network, from 68 to 65535, and from 1280 for IPv6. Defaults to
	// what the nodes have.
	//
	// Example: 1400
	// +optional
	// +k8s:optional
	// +k8s:minimum=68
	// +k8s:maximum=65535
	MTU int32 `json:"mtu,omitempty" protobuf:"varint,6,opt,name=mtu"`

	// routes are the ranges outside of the network that its pods reach through the gateway, in canonical form and of the IP
	// family of the cidr. All other addresses are reached through the network of the cluster. Defaults to none.
	//
	// Example: [10.0.0.0/8]
	// +optional
	// +listType=set
	// +k8s:optional
	// +k8s:listType=set
	// +k8s:validation:maxItems=64
	Routes []string `json:"routes,omitempty" protobuf:"bytes,7,rep,name=routes"`
}

// ReasonInUse is a reason of the condition Ready of a Network only: the network is being deleted, and waits until no box uses
// it.
const ReasonInUse = "InUse"

// MaxNetworkBoxes is how many boxes the status of a network lists.
const MaxNetworkBoxes = 100

// NetworkStatus is the observed state of a Network.
type NetworkStatus struct {
	// observedGeneration is the generation of the network that this status was computed for.
	//
	// Example: 1
	// +optional
	// +k8s:optional
	// +k8s:minimum=0
	ObservedGeneration int64 `json:"observedGeneration,omitempty" protobuf:"varint,1,opt,name=observedGeneration"`

	// boxes are the names of the boxes that use the network: those that ask for it, and those whose pods still have an
	// address of it. They are sorted, and at most 100.
	//
	// Example: [db, web]
	// +optional
	// +listType=atomic
	Boxes []string `json:"boxes,omitempty" protobuf:"bytes,2,rep,name=boxes"`

	// boxesOmitted is the number of boxes that boxes leaves out.
	//
	// Example: 20
	// +optional
	// +k8s:optional
	// +k8s:minimum=0
	BoxesOmitted int32 `json:"boxesOmitted,omitempty" protobuf:"varint,3,opt,name=boxesOmitted"`

	// usedAddresses is the number of addresses of the network that pods of boxes are known to have, by their annotation
	// k8s.v1.cni.cncf.io/network-status.
	//
	// Example: 4
	// +optional
	// +k8s:optional
	// +k8s:minimum=0
	UsedAddresses int32 `json:"usedAddresses,omitempty" protobuf:"varint,4,opt,name=usedAddresses"`

	// freeAddresses is the number of addresses that pods can have and are not known to have. 2147483647 means this number or
	// more.
	//
	// Example: 65529
	// +optional
	// +k8s:optional
	// +k8s:minimum=0
	FreeAddresses int32 `json:"freeAddresses,omitempty" protobuf:"varint,5,opt,name=freeAddresses"`

	// conditions are Ready and Applied.
	//
	// Example: [{type: Applied, status: "False", reason: NotServed, message: "the cluster serves no NetworkAttachmentDefinitions"}]
	// +optional
	// +patchMergeKey=type
	// +patchStrategy=merge
	// +listType=map
	// +listMapKey=type
	// +k8s:eachVal=+k8s:opaqueType
	Conditions []metav1.Condition `json:"conditions,omitempty" patchStrategy:"merge" patchMergeKey:"type" protobuf:"bytes,6,rep,name=conditions"`
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
