// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package model

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object

// ModelBoxRestart is a request to replace all pods of a box, and the answer to it. It is not stored.
type ModelBoxRestart struct {
	metav1.TypeMeta
	metav1.ObjectMeta
	Status ModelBoxRestartStatus
}

// ModelBoxRestartStatus is what a restart has done.
type ModelBoxRestartStatus struct {
	RestartedAt metav1.Time
	Generation  int64
}
