// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package model

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object

// ModelBoxRollback is a request to give a box the spec of an earlier revision, and the answer to it. It is not stored.
type ModelBoxRollback struct {
	metav1.TypeMeta
	metav1.ObjectMeta
	ToRevision    int64
	DeleteStorage bool
	Immediate     bool
	Status        ModelBoxRollbackStatus
}

// ModelBoxRollbackStatus is what a rollback has done.
type ModelBoxRollbackStatus struct {
	Revision   int64
	Generation int64
}
