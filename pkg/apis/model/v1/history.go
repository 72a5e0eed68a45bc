// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package v1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// ChangeCauseAnnotation is the annotation of "kubectl rollout history". On a box, its value is the reason for the change, which
// the history of the box shows.
const ChangeCauseAnnotation = "kubernetes.io/change-cause"

// ChangedByAnnotation of a box is the name of the user whose change its pods come from: who created the box, or was the last to
// change what pods are made from. The server writes it, and whatever a request has there is ignored. A box that was last changed
// by a release without it has none.
const ChangedByAnnotation = "model.github.com/changed-by"

// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object

// ModelBoxHistory is what the pods of a box have been, as far as the cluster keeps it in ReplicaSets, or in ControllerRevisions.
// It is the answer of the subresource history, and is not stored.
type ModelBoxHistory struct {
	// +k8s:opaqueType
	metav1.TypeMeta `json:",inline"`

	// metadata has the name and the namespace of the box.
	//
	// Example: {name: web, namespace: default}
	// +optional
	// +k8s:opaqueType
	metav1.ObjectMeta `json:"metadata,omitempty" protobuf:"bytes,1,opt,name=metadata"`

	// revisions are the newest 50 that the cluster keeps, the oldest first.
	//
	// Example: [{revision: 1, images: ["nginx:1.7.9"]}]
	// +optional
	// +listType=atomic
	Revisions []ModelBoxRevision `json:"revisions,omitempty" protobuf:"bytes,2,rep,name=revisions"`
}

// ModelBoxRevision is one of the things that the pods of a box have been.
type ModelBoxRevision struct {
	// revision is the number of the revision, by which a rollback asks for it. It is the one of "kubectl rollout history" for
	// the Deployment, StatefulSet or DaemonSet of the box. Required.
	//
	// Example: 3
	Revision int64 `json:"revision" protobuf:"varint,1,opt,name=revision"`

	// name is the name of the ReplicaSet or the ControllerRevision of the revision. Required.
	//
	// Example: web-5db5868f47
	Name string `json:"name" protobuf:"bytes,2,opt,name=name"`

	// creationTimestamp is when there were pods of this revision first.
	//
	// Example: "2026-01-02T03:04:05Z"
	// +optional
	// +k8s:opaqueType
	CreationTimestamp metav1.Time `json:"creationTimestamp,omitempty" protobuf:"bytes,3,opt,name=creationTimestamp"`

	// images are the images of the containers after a rollback to the revision, without init containers. If the spec is not
	// known, they are the images that the pods had.
	//
	// Example: ["nginx:1.7.9"]
	// +optional
	// +listType=atomic
	Images []string `json:"images,omitempty" protobuf:"bytes,4,rep,name=images"`

	// changeCause is the annotation kubernetes.io/change-cause that the box had.
	//
	// Example: a fix of the cache
	// +optional
	ChangeCause string `json:"changeCause,omitempty" protobuf:"bytes,5,opt,name=changeCause"`

	// generation is the generation of the box with the spec of the revision. It is 0 if the spec is not known.
	//
	// Example: 2
	// +optional
	Generation int64 `json:"generation,omitempty" protobuf:"varint,6,opt,name=generation"`

	// changes are the fields of the spec of the box that differ from the revision before, without the number of pods. The first
	// revision has none, nor has a revision if one of the two specs is not known. If more than 100 fields have changed, one
	// change with the whole spec takes their place.
	//
	// Example: [{path: spec.image, before: '"nginx:1.7.9"', after: '"nginx:1.9.1"'}]
	// +optional
	// +listType=atomic
	Changes []ModelBoxFieldChange `json:"changes,omitempty" protobuf:"bytes,7,rep,name=changes"`

	// unknown says why the spec of the box is not known, and the revision cannot be rolled back to. It is empty where the spec
	// is known.
	//
	// Example: the box was paused
	// +optional
	Unknown string `json:"unknown,omitempty" protobuf:"bytes,8,opt,name=unknown"`

	// changedBy is the name of the user who made the change, from the annotation model.github.com/changed-by of the box. It is
	// empty if the name was not recorded.
	//
	// Example: anna
	// +optional
	ChangedBy string `json:"changedBy,omitempty" protobuf:"bytes,9,opt,name=changedBy"`

	// failure is why the rollout of the revision has failed last, as status.rollout.failedRevisions of the box has it. It is empty
	// where that is not known to have failed.
	//
	// Example: ImagePullBackOff
	// +optional
	Failure string `json:"failure,omitempty" protobuf:"bytes,10,opt,name=failure"`
}

// ModelBoxFieldChange is a field of a box that has another value than before.
type ModelBoxFieldChange struct {
	// path is the path of the field. Items of lists are named by their name, or else counted from 0. Required.
	//
	// Example: spec.envs[MODE].value
	Path string `json:"path" protobuf:"bytes,1,opt,name=path"`

	// before is the value that the field had, as JSON, cut after 256 bytes. It is empty where it had none.
	//
	// Example: '"debug"'
	// +optional
	Before string `json:"before,omitempty" protobuf:"bytes,2,opt,name=before"`

	// after is the value that the field got, as JSON, cut after 256 bytes. It is empty where it got none.
	//
	// Example: '"production"'
	// +optional
	After string `json:"after,omitempty" protobuf:"bytes,3,opt,name=after"`
}
