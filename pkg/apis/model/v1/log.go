// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package v1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// DefaultMaxLogRequests is how many logs of a box are followed at a time where ModelBoxLogOptions do not say.
const DefaultMaxLogRequests = 50

// +k8s:conversion-gen:explicit-from=net/url.Values
// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object

// ModelBoxLogOptions is the query of the subresource log, the logs of the pods of a box. Those options that pods/log has are of the
// log of each container.
type ModelBoxLogOptions struct {
	// +k8s:opaqueType
	metav1.TypeMeta `json:",inline"`

	// pod is the name of one of the pods of the box. Without it, it is all of them, and with follow those that come later as well.
	//
	// Example: web-557996f76b-nb7ck
	// +optional
	Pod string `json:"pod,omitempty" protobuf:"bytes,1,opt,name=pod"`

	// container is one of each pod; pods that do not have it are left out. Without it, it is the one that the annotation
	// kubectl.kubernetes.io/default-container of the pod names, or else the main container of the box.
	//
	// Example: sidecar
	// +optional
	Container string `json:"container,omitempty" protobuf:"bytes,2,opt,name=container"`

	// allContainers is whether it is all containers of the pods, init containers and ephemeral ones included. It excludes container.
	//
	// Example: true
	// +optional
	AllContainers bool `json:"allContainers,omitempty" protobuf:"varint,3,opt,name=allContainers"`

	// follow streams the logs as the containers write them, through restarts of containers and rollouts of the box. The stream
	// ends when the box is deleted and its pods are gone, or with pod, when that pod is gone.
	//
	// Example: true
	// +optional
	Follow bool `json:"follow,omitempty" protobuf:"varint,4,opt,name=follow"`

	// previous is whether it is the logs of the containers that ran before those that run now, of pods that have such. It excludes
	// follow.
	//
	// Example: true
	// +optional
	Previous bool `json:"previous,omitempty" protobuf:"varint,5,opt,name=previous"`

	// sinceSeconds leaves out lines that are older than so many seconds, at least 1. It excludes sinceTime.
	//
	// Example: 3600
	// +optional
	SinceSeconds *int64 `json:"sinceSeconds,omitempty" protobuf:"varint,6,opt,name=sinceSeconds"`

	// sinceTime leaves out lines that are older than that time.
	//
	// Example: "2026-01-01T12:00:00Z"
	// +optional
	// +k8s:opaqueType
	SinceTime *metav1.Time `json:"sinceTime,omitempty" protobuf:"bytes,7,opt,name=sinceTime"`

	// timestamps is whether each line begins with its time, in RFC 3339 with nanoseconds.
	//
	// Example: true
	// +optional
	Timestamps bool `json:"timestamps,omitempty" protobuf:"varint,8,opt,name=timestamps"`

	// tailLines is how many lines from the end of each log are shown, of logs that are there when the request begins. Without it,
	// it is all of them.
	//
	// Example: 20
	// +optional
	TailLines *int64 `json:"tailLines,omitempty" protobuf:"varint,9,opt,name=tailLines"`

	// limitBytes is how many bytes of each log are shown, at least 1, without what is before its lines. Without it, there is no limit.
	//
	// Example: 65536
	// +optional
	LimitBytes *int64 `json:"limitBytes,omitempty" protobuf:"varint,10,opt,name=limitBytes"`

	// prefix is whether each line begins with its pod and container, as [pod/web-557996f76b-nb7ck/web]. Without it, they do unless
	// it is one container of one pod that is asked for.
	//
	// Example: false
	// +optional
	Prefix *bool `json:"prefix,omitempty" protobuf:"varint,11,opt,name=prefix"`

	// maxLogRequests is how many logs are followed at a time, from 1 to 1000. A request that would need more when it begins is
	// refused; later, a log waits for another one to end. Without it, it is 50.
	//
	// Example: 100
	// +optional
	MaxLogRequests *int64 `json:"maxLogRequests,omitempty" protobuf:"varint,12,opt,name=maxLogRequests"`
}
