// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package model

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object

// ModelBoxLogOptions is the query of the subresource log.
type ModelBoxLogOptions struct {
	metav1.TypeMeta
	Pod            string
	Container      string
	AllContainers  bool
	Follow         bool
	Previous       bool
	SinceSeconds   *int64
	SinceTime      *metav1.Time
	Timestamps     bool
	TailLines      *int64
	LimitBytes     *int64
	Prefix         *bool
	MaxLogRequests *int64
}
