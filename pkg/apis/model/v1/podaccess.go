// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package v1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// PodAccessMissingCause is a cause of a 403 for log, exec, attach, portforward and debug of a box: the server itself may not reach
// pods, as it does not have the component pod-access, whatever the user may.
const PodAccessMissingCause metav1.CauseType = "PodAccessMissing"

// +k8s:conversion-gen:explicit-from=net/url.Values
// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object

// ModelBoxExecOptions is the query of the subresource exec, which runs a command in a container of a box. Except for the pod,
// it is the query of pods/exec.
type ModelBoxExecOptions struct {
	// +k8s:opaqueType
	metav1.TypeMeta `json:",inline"`

	// pod is the name of one of the pods of the box. Without it, it is one that runs and is ready, where there is one.
	//
	// Example: web-557996f76b-nb7ck
	// +optional
	Pod string `json:"pod,omitempty" protobuf:"bytes,1,opt,name=pod"`

	// container is one of the pod. Without it, it is the one that the annotation kubectl.kubernetes.io/default-container of the
	// pod names, or else the main container of the box.
	//
	// Example: sidecar
	// +optional
	Container string `json:"container,omitempty" protobuf:"bytes,2,opt,name=container"`

	// stdin is whether there is a stream for the standard input of the command. At least one of the streams has to be there.
	//
	// Example: true
	// +optional
	Stdin bool `json:"stdin,omitempty" protobuf:"varint,3,opt,name=stdin"`

	// stdout is whether there is a stream for the standard output of the command.
	//
	// Example: true
	// +optional
	Stdout bool `json:"stdout,omitempty" protobuf:"varint,4,opt,name=stdout"`

	// stderr is whether there is a stream for the standard error of the command. With a terminal there is none.
	//
	// Example: true
	// +optional
	Stderr bool `json:"stderr,omitempty" protobuf:"varint,5,opt,name=stderr"`

	// tty is whether the command gets a terminal.
	//
	// Example: true
	// +optional
	TTY bool `json:"tty,omitempty" protobuf:"varint,6,opt,name=tty"`

	// command is the program and its arguments, each as a parameter of its own. There is no shell around it.
	// Required.
	//
	// Example: [ls, -l]
	// +listType=atomic
	Command []string `json:"command" protobuf:"bytes,7,rep,name=command"`
}

// +k8s:conversion-gen:explicit-from=net/url.Values
// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object

// ModelBoxAttachOptions is the query of the subresource attach, which attaches to the main process of a container of a box.
// Except for the pod, it is the query of pods/attach.
type ModelBoxAttachOptions struct {
	// +k8s:opaqueType
	metav1.TypeMeta `json:",inline"`

	// pod is the name of one of the pods of the box. Without it, it is one that runs and is ready, where there is one.
	//
	// Example: web-557996f76b-nb7ck
	// +optional
	Pod string `json:"pod,omitempty" protobuf:"bytes,1,opt,name=pod"`

	// container is one of the pod. Without it, it is the one that the annotation kubectl.kubernetes.io/default-container of the
	// pod names, or else the main container of the box.
	//
	// Example: sidecar
	// +optional
	Container string `json:"container,omitempty" protobuf:"bytes,2,opt,name=container"`

	// stdin is whether there is a stream for the standard input of the container. At least one of the streams has to be there.
	//
	// Example: true
	// +optional
	Stdin bool `json:"stdin,omitempty" protobuf:"varint,3,opt,name=stdin"`

	// stdout is whether there is a stream for the standard output of the container.
	//
	// Example: true
	// +optional
	Stdout bool `json:"stdout,omitempty" protobuf:"varint,4,opt,name=stdout"`

	// stderr is whether there is a stream for the standard error of the container. With a terminal there is none.
	//
	// Example: true
	// +optional
	Stderr bool `json:"stderr,omitempty" protobuf:"varint,5,opt,name=stderr"`

	// tty is whether the container has a terminal, which its stdin is then.
	//
	// Example: true
	// +optional
	TTY bool `json:"tty,omitempty" protobuf:"varint,6,opt,name=tty"`
}

// +k8s:conversion-gen:explicit-from=net/url.Values
// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object

// ModelBoxPortForwardOptions is the query of the subresource portforward, which forwards connections to ports of a pod of a
// box. Except for the pod, it is the query of pods/portforward.
type ModelBoxPortForwardOptions struct {
	// +k8s:opaqueType
	metav1.TypeMeta `json:",inline"`

	// pod is the name of one of the pods of the box. Without it, it is one that runs and is ready, where there is one.
	//
	// Example: web-557996f76b-nb7ck
	// +optional
	Pod string `json:"pod,omitempty" protobuf:"bytes,1,opt,name=pod"`

	// ports are the ports of the pod to forward. The WebSocket protocols with two channels for each port need them. In all other
	// protocols, each stream names its port.
	//
	// Example: [8080]
	// +optional
	// +listType=atomic
	Ports []int32 `json:"ports,omitempty" protobuf:"varint,2,rep,name=ports"`
}
