// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package v1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object

// ModelBoxRollback is a request to give a box the spec of one of its earlier revisions, and the answer to it. It is the body of
// the subresource rollback, and is not stored.
type ModelBoxRollback struct {
	// +k8s:opaqueType
	metav1.TypeMeta `json:",inline"`

	// metadata has the name and the namespace of the box. A request may leave it out.
	//
	// Example: {name: web, namespace: default}
	// +optional
	// +k8s:opaqueType
	metav1.ObjectMeta `json:"metadata,omitempty" protobuf:"bytes,1,opt,name=metadata"`

	// toRevision is the number of the revision, as in the history of the box. 0 is the newest revision with
	// other pods than the box asks for now.
	//
	// Example: 3
	// +optional
	// +k8s:optional
	// +k8s:minimum=0
	ToRevision int64 `json:"toRevision,omitempty" protobuf:"varint,2,opt,name=toRevision"`

	// deleteStorage lets the rollback take storage out of the box that is not retained, and whose data is deleted. Such a rollback
	// is refused without it. Defaults to false.
	//
	// Example: true
	// +optional
	DeleteStorage bool `json:"deleteStorage,omitempty" protobuf:"varint,4,opt,name=deleteStorage"`

	// immediate leaves out the steps of the rollout, with their pauses and checks, as a promotion with full: true does. It makes no
	// difference to a spec without rollout.type. Defaults to false.
	//
	// Example: true
	// +optional
	Immediate bool `json:"immediate,omitempty" protobuf:"varint,5,opt,name=immediate"`

	// status is what the rollback has done. It is ignored in a request.
	//
	// Example: {revision: 3, generation: 7}
	// +optional
	Status ModelBoxRollbackStatus `json:"status,omitempty" protobuf:"bytes,3,opt,name=status"`
}

// ModelBoxRollbackStatus is what a rollback has done.
type ModelBoxRollbackStatus struct {
	// revision is the number of the revision whose spec the box has now. The pods have a new revision.
	//
	// Example: 3
	// +optional
	// +k8s:optional
	// +k8s:minimum=0
	Revision int64 `json:"revision,omitempty" protobuf:"varint,1,opt,name=revision"`

	// generation is the generation of the box with the rollback. The pods are replaced when the condition Progressing of the box
	// has this observedGeneration, or a later one, and the reason RolloutComplete.
	//
	// Example: 7
	// +optional
	// +k8s:optional
	// +k8s:minimum=0
	Generation int64 `json:"generation,omitempty" protobuf:"varint,2,opt,name=generation"`
}
