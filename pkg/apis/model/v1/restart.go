// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package v1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// RestartedAtAnnotation is the annotation of "kubectl rollout restart". It replaces pods although no other field of them
// changes. A restart sets it in spec.podTemplate.metadata.annotations of the box, to the time in the form of RFC 3339.
const RestartedAtAnnotation = "kubectl.kubernetes.io/restartedAt"

// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object

// ModelBoxRestart is a request to replace all pods of a box by new ones that are the same, as a rolling update, and the
// answer to it. It is the body of the subresource restart, and is not stored.
type ModelBoxRestart struct {
	// +k8s:opaqueType
	metav1.TypeMeta `json:",inline"`

	// metadata has the name and the namespace of the box. A request may leave it out.
	//
	// Example: {name: web, namespace: default}
	// +optional
	// +k8s:opaqueType
	metav1.ObjectMeta `json:"metadata,omitempty" protobuf:"bytes,1,opt,name=metadata"`

	// status is what the restart has done. It is ignored in a request.
	//
	// Example: {restartedAt: "2026-01-02T03:04:05Z", generation: 2}
	// +optional
	Status ModelBoxRestartStatus `json:"status,omitempty" protobuf:"bytes,2,opt,name=status"`
}

// ModelBoxRestartStatus is what a restart has done.
type ModelBoxRestartStatus struct {
	// restartedAt is the time of the restart, which the pods have in their annotation kubectl.kubernetes.io/restartedAt.
	//
	// Example: "2026-01-02T03:04:05Z"
	// +optional
	// +k8s:opaqueType
	RestartedAt metav1.Time `json:"restartedAt,omitempty" protobuf:"bytes,1,opt,name=restartedAt"`

	// generation is the generation of the box with the restart. The pods are replaced when the condition Progressing of the box
	// has this observedGeneration, or a later one, and the reason RolloutComplete.
	//
	// Example: 2
	// +optional
	// +k8s:optional
	// +k8s:minimum=0
	Generation int64 `json:"generation,omitempty" protobuf:"varint,2,opt,name=generation"`
}
