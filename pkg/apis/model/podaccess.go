// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package model

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object

// ModelBoxExecOptions is the query of the subresource exec.
type ModelBoxExecOptions struct {
	metav1.TypeMeta
	Pod       string
	Container string
	Stdin     bool
	Stdout    bool
	Stderr    bool
	TTY       bool
	Command   []string
}

// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object

// ModelBoxAttachOptions is the query of the subresource attach.
type ModelBoxAttachOptions struct {
	metav1.TypeMeta
	Pod       string
	Container string
	Stdin     bool
	Stdout    bool
	Stderr    bool
	TTY       bool
}

// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object

// ModelBoxPortForwardOptions is the query of the subresource portforward.
type ModelBoxPortForwardOptions struct {
	metav1.TypeMeta
	Pod   string
	Ports []int32
}
