// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package model

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object

// Network is a range of addresses with a gateway. The served types document what each field means and promises.
type Network struct {
	metav1.TypeMeta
	metav1.ObjectMeta
	Spec   NetworkSpec
	Status NetworkStatus
}

// NetworkType is how the pods of a node are connected to a network.
type NetworkType string

// These are the types of networks.
const (
	NetworkTypeBridge  NetworkType = "bridge"
	NetworkTypeMACVLAN NetworkType = "macvlan"
	NetworkTypeIPVLAN  NetworkType = "ipvlan"
	NetworkTypeVLAN    NetworkType = "vlan"
)

// NetworkSpec is the desired state of a Network.
type NetworkSpec struct {
	CIDR    string
	Gateway string
	Type    NetworkType
	Master  string
	VLAN    int32
	MTU     int32
	Routes  []string
}

// NetworkStatus is the observed state of a Network.
type NetworkStatus struct {
	ObservedGeneration int64
	Boxes              []string
	BoxesOmitted       int32
	UsedAddresses      int32
	FreeAddresses      int32
	Conditions         []metav1.Condition
}

// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object

// NetworkList is a list of Networks.
type NetworkList struct {
	metav1.TypeMeta
	metav1.ListMeta
	Items []Network
}
