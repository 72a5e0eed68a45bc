// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package model

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object

// ModelBoxHistory is what the pods of a box have been. It is not stored.
type ModelBoxHistory struct {
	metav1.TypeMeta
	metav1.ObjectMeta
	Revisions []ModelBoxRevision
}

// ModelBoxRevision is one of the things that the pods of a box have been.
type ModelBoxRevision struct {
	Revision          int64
	Name              string
	CreationTimestamp metav1.Time
	Images            []string
	ChangeCause       string
	Generation        int64
	Changes           []ModelBoxFieldChange
	Unknown           string
	ChangedBy         string
	Failure           string
}

// ModelBoxFieldChange is a field of a box that has another value than before.
type ModelBoxFieldChange struct {
	Path   string
	Before string
	After  string
}
