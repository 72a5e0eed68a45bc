// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package v1

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
)

// ResizeMode is what a change of only the CPU and the memory of containers does to the pods of a box.
// +enum
// +k8s:enum
type ResizeMode string

const (
	// ResizeRestart replaces the pods, as any other change of the pods does.
	ResizeRestart ResizeMode = "Restart"
	// ResizeInPlaceOrRestart resizes the pods in place, and replaces them if a pod cannot be resized.
	ResizeInPlaceOrRestart ResizeMode = "InPlaceOrRestart"
	// ResizeInPlaceOnly resizes the pods in place, and waits if a pod cannot be resized.
	ResizeInPlaceOnly ResizeMode = "InPlaceOnly"
)

// DefaultResizeTimeoutSeconds is what spec.resize.timeoutSeconds is taken for where it is not given.
const DefaultResizeTimeoutSeconds = int32(300)

// ModelBoxResize is what a change of only the CPU and the memory of containers does to the pods of a box.
type ModelBoxResize struct {
	// mode is "Restart" to replace the pods, as any other change of the pods does; "InPlaceOrRestart" to resize the pods in place, and
	// to replace them if a pod cannot be resized; "InPlaceOnly" to resize them in place, and to wait if a pod cannot be resized.
	// Required.
	//
	// Example: InPlaceOrRestart
	// +k8s:required
	Mode ResizeMode `json:"mode" protobuf:"bytes,1,opt,name=mode,casttype=ResizeMode"`

	// timeoutSeconds is the number of seconds that a resize may make no progress before the pods are replaced, such as while a node
	// lacks the memory. For the mode "InPlaceOrRestart" only. Defaults to 300.
	//
	// Example: 600
	// +optional
	TimeoutSeconds *int32 `json:"timeoutSeconds,omitempty" protobuf:"varint,2,opt,name=timeoutSeconds"`
}

// ResizesInPlace returns whether a change of only the CPU and the memory of containers is to leave the pods of the box in place.
func (spec *ModelBoxSpec) ResizesInPlace() bool {
	return spec.Resize != nil && spec.Resize.Mode != ResizeRestart
}

// ResizeTimeout returns how long a resize of the box may make no progress before its pods are replaced.
func (spec *ModelBoxSpec) ResizeTimeout() time.Duration {
	seconds := DefaultResizeTimeoutSeconds
	if spec.Resize != nil {
		seconds = ptr.Deref(spec.Resize.TimeoutSeconds, seconds)
	}
	return time.Duration(seconds) * time.Second
}

// ResizePhase is how far a resize in place has come.
// +enum
type ResizePhase string

const (
	// ResizeInProgress resizes the pods.
	ResizeInProgress ResizePhase = "InProgress"
	// ResizeHalted has resized all pods. The workload is halted until its new pod template cannot replace them.
	ResizeHalted ResizePhase = "Halted"
	// ResizeCompleting gives the workload the new pod template.
	ResizeCompleting ResizePhase = "Completing"
	// ResizeRestarting replaces the pods, because they could not be resized.
	ResizeRestarting ResizePhase = "Restarting"
)

// The reasons of a resize that waits, or that has been given up.
const (
	// ResizeDeferred says that a node lacks the CPU or the memory for now, or that a quota is exceeded.
	ResizeDeferred = "Deferred"
	// ResizeInfeasible says that a pod cannot be resized.
	ResizeInfeasible = "Infeasible"
)

// ModelBoxResizeStatus is how far a resize in place of the pods of a box has come.
type ModelBoxResizeStatus struct {
	// phase is "InProgress" while the pods are resized, "Halted" while the workload is halted because all pods are, "Completing" while
	// the workload gets the new pod template, and "Restarting" while the pods are replaced because they could not be resized.
	//
	// Example: InProgress
	// +optional
	Phase ResizePhase `json:"phase,omitempty" protobuf:"bytes,1,opt,name=phase,casttype=ResizePhase"`

	// podsHash identifies the pods that the box asks for.
	//
	// Example: 6fd9e0c1b5a94d2f
	// +optional
	PodsHash string `json:"podsHash,omitempty" protobuf:"bytes,2,opt,name=podsHash"`

	// resizedReplicas is the number of pods that have the CPU and the memory that the box asks for.
	//
	// Example: 2
	// +optional
	// +k8s:optional
	// +k8s:minimum=0
	ResizedReplicas int32 `json:"resizedReplicas,omitempty" protobuf:"varint,3,opt,name=resizedReplicas"`

	// progressedAt is when a pod was last resized, or when the resize began.
	//
	// Example: "2026-01-02T03:04:05Z"
	// +optional
	// +k8s:opaqueType
	ProgressedAt metav1.Time `json:"progressedAt,omitempty" protobuf:"bytes,4,opt,name=progressedAt"`

	// reason is "Deferred" if a node lacks the CPU or the memory for now or a quota is exceeded, and "Infeasible" if a pod cannot be
	// resized. It is empty if all pods are resized or can be.
	//
	// Example: Deferred
	// +optional
	Reason string `json:"reason,omitempty" protobuf:"bytes,5,opt,name=reason"`

	// message says which pod the reason is about, and what the cluster says.
	//
	// Example: "pod web-5d8f7c9b6-2xkqp: Node didn't have enough resource: memory"
	// +optional
	Message string `json:"message,omitempty" protobuf:"bytes,6,opt,name=message"`
}
