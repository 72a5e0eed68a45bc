// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package v1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object

// ModelBoxDiff is how the live children of a box differ from those that the box asks for, field by field, and what becomes of
// each when the box is applied. It is the answer of the subresource diff, and is not stored.
type ModelBoxDiff struct {
	// +k8s:opaqueType
	metav1.TypeMeta `json:",inline"`

	// metadata has the name and the namespace of the box.
	//
	// Example: {name: web, namespace: default}
	// +optional
	// +k8s:opaqueType
	metav1.ObjectMeta `json:"metadata,omitempty" protobuf:"bytes,1,opt,name=metadata"`

	// paused says that the box is paused: its children stay as they are until it no longer is.
	//
	// Example: true
	// +optional
	Paused bool `json:"paused,omitempty" protobuf:"varint,2,opt,name=paused"`

	// children are those that the box asks for, the workload first, and after them those that it has and asks for no more.
	//
	// Example: [{apiVersion: v1, kind: Service, name: web, action: None}]
	// +optional
	// +listType=atomic
	Children []ModelBoxChildDiff `json:"children,omitempty" protobuf:"bytes,3,rep,name=children"`
}

// ModelBoxDiffAction is what becomes of a child.
type ModelBoxDiffAction string

const (
	// DiffActionNone is a child that stays as it is.
	DiffActionNone ModelBoxDiffAction = "None"
	// DiffActionCreate is one that is not there yet.
	DiffActionCreate ModelBoxDiffAction = "Create"
	// DiffActionUpdate is one of which fields change.
	DiffActionUpdate ModelBoxDiffAction = "Update"
	// DiffActionReplace is for a child that is deleted and created again, because a field that differs cannot be changed.
	DiffActionReplace ModelBoxDiffAction = "Replace"
	// DiffActionDelete is an object that the box no longer asks for.
	DiffActionDelete ModelBoxDiffAction = "Delete"
	// DiffActionRefuse is an object that the controller leaves alone although it differs from the box, such as an object of another
	// owner.
	DiffActionRefuse ModelBoxDiffAction = "Refuse"
	// DiffActionUnknown is a child of a kind that the requester may not get.
	DiffActionUnknown ModelBoxDiffAction = "Unknown"
)

// ModelBoxChildDiff is what an apply of a box does with one child.
type ModelBoxChildDiff struct {
	// apiVersion is the API version of the child. Required.
	//
	// Example: apps/v1
	APIVersion string `json:"apiVersion" protobuf:"bytes,1,opt,name=apiVersion"`

	// kind is the kind of the child. Required.
	//
	// Example: Deployment
	Kind string `json:"kind" protobuf:"bytes,2,opt,name=kind"`

	// name is the name of the child. Required.
	//
	// Example: web
	Name string `json:"name" protobuf:"bytes,3,opt,name=name"`

	// action is what becomes of the child: None, Create, Update, Replace, Delete, Refuse, or Unknown. Required.
	//
	// Example: Update
	Action ModelBoxDiffAction `json:"action" protobuf:"bytes,4,opt,name=action,casttype=ModelBoxDiffAction"`

	// effect is what the action does to what runs, in the words of the warnings of an update of the box. It is empty where
	// nothing that runs is concerned.
	//
	// Example: rolls 4 pods
	// +optional
	Effect string `json:"effect,omitempty" protobuf:"bytes,5,opt,name=effect"`

	// message is why the action is this one, where its fields do not say it.
	//
	// Example: it has a cluster IP and cannot become headless
	// +optional
	Message string `json:"message,omitempty" protobuf:"bytes,6,opt,name=message"`

	// fields are the fields of the live child that differ from the render of the box, at most the first 200.
	//
	// Example: [{path: spec.minReadySeconds, live: "77", wanted: "3", manager: kubectl-edit}]
	// +optional
	// +listType=atomic
	Fields []ModelBoxFieldDiff `json:"fields,omitempty" protobuf:"bytes,7,rep,name=fields"`

	// omittedFields is the number of fields that differ beside the first 200.
	//
	// Example: 12
	// +optional
	OmittedFields int32 `json:"omittedFields,omitempty" protobuf:"varint,8,opt,name=omittedFields"`
}

// ModelBoxFieldDiff is a field of a live child that differs from what the box asks for.
type ModelBoxFieldDiff struct {
	// path is the path of the field, as in the conditions and events of boxes. Items of lists are named by their keys. Required.
	//
	// Example: spec.template.spec.containers[name="web"].image
	Path string `json:"path" protobuf:"bytes,1,opt,name=path"`

	// live is the value that the field has, as JSON, cut after 256 bytes. It is empty where it has none.
	//
	// Example: '"nginx:1.7.9"'
	// +optional
	Live string `json:"live,omitempty" protobuf:"bytes,2,opt,name=live"`

	// wanted is the value that the box asks for, as JSON, cut after 256 bytes. It is empty where the field is taken out, and the
	// cluster fills in its default.
	//
	// Example: '"nginx:1.9.1"'
	// +optional
	Wanted string `json:"wanted,omitempty" protobuf:"bytes,3,opt,name=wanted"`

	// manager is the field manager that has set the live value: modelbox-apiserver where the box has asked for it before. It is
	// empty if the manager is not known, as of a field that a client has removed.
	//
	// Example: kubectl-edit
	// +optional
	Manager string `json:"manager,omitempty" protobuf:"bytes,4,opt,name=manager"`

	// ignored says that the field is left as it is, because of spec.ignoreDrift of the box.
	//
	// Example: true
	// +optional
	Ignored bool `json:"ignored,omitempty" protobuf:"varint,5,opt,name=ignored"`
}
