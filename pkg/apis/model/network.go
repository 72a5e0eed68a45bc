// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package model

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object

// Network is a range of addresses with a gateway. The served types document what each field means and promises.
type Network struct {
	metav1.TypeMeta
	metav1.ObjectMeta
	Spec NetworkSpec
}

// NetworkSpec is the desired state of a Network.
type NetworkSpec struct {
	CIDR    string
	Gateway string
}

// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object

// NetworkList is a list of Networks.
type NetworkList struct {
	metav1.TypeMeta
	metav1.ListMeta
	Items []Network
}
