// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package model

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object

// ModelBoxDiff is how the live children of a box differ from those that it asks for. It is not stored.
type ModelBoxDiff struct {
	metav1.TypeMeta
	metav1.ObjectMeta
	Paused   bool
	Children []ModelBoxChildDiff
}

// ModelBoxDiffAction is what becomes of a child.
type ModelBoxDiffAction string

// The actions.
const (
	DiffActionNone    ModelBoxDiffAction = "None"
	DiffActionCreate  ModelBoxDiffAction = "Create"
	DiffActionUpdate  ModelBoxDiffAction = "Update"
	DiffActionReplace ModelBoxDiffAction = "Replace"
	DiffActionDelete  ModelBoxDiffAction = "Delete"
	DiffActionRefuse  ModelBoxDiffAction = "Refuse"
	DiffActionUnknown ModelBoxDiffAction = "Unknown"
)

// ModelBoxChildDiff is what an apply of a box does with one child.
type ModelBoxChildDiff struct {
	APIVersion    string
	Kind          string
	Name          string
	Action        ModelBoxDiffAction
	Effect        string
	Message       string
	Fields        []ModelBoxFieldDiff
	OmittedFields int32
}

// ModelBoxFieldDiff is a field of a live child that differs.
type ModelBoxFieldDiff struct {
	Path    string
	Live    string
	Wanted  string
	Manager string
	Ignored bool
}
