// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package v1

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// MaxDebugPods is how many pods of a box can be debugged by one request.
const MaxDebugPods = 100

// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object

// ModelBoxDebug is a request to add an ephemeral container to a running pod of a box, or to all of them, as "kubectl debug" does
// for a pod, and the answer to it. It is the body of the subresource debug, and is not stored. An ephemeral container can neither
// be changed nor taken out of its pod.
type ModelBoxDebug struct {
	// +k8s:opaqueType
	metav1.TypeMeta `json:",inline"`

	// metadata has the name and the namespace of the box. A request may leave it out.
	//
	// Example: {name: web, namespace: default}
	// +optional
	// +k8s:opaqueType
	metav1.ObjectMeta `json:"metadata,omitempty" protobuf:"bytes,1,opt,name=metadata"`

	// image is what the container runs. Required.
	//
	// Example: busybox:1.37
	// +k8s:validation:maxLength=1024
	Image string `json:"image" protobuf:"bytes,2,opt,name=image"`

	// imagePullPolicy is when the image is pulled: Always, IfNotPresent or Never. Without it, the cluster takes Always for an image
	// with the tag latest or without any, and IfNotPresent for all others.
	//
	// Example: IfNotPresent
	// +optional
	// +k8s:opaqueType
	ImagePullPolicy corev1.PullPolicy `json:"imagePullPolicy,omitempty" protobuf:"bytes,3,opt,name=imagePullPolicy,casttype=k8s.io/api/core/v1.PullPolicy"`

	// command is what the container runs in place of the entrypoint of its image. There is no shell around it.
	//
	// Example: [sh]
	// +optional
	// +listType=atomic
	// +k8s:validation:maxItems=1024
	Command []string `json:"command,omitempty" protobuf:"bytes,4,rep,name=command"`

	// args are the arguments of the command, or of the entrypoint of the image.
	//
	// Example: ["-c", "ps; sleep infinity"]
	// +optional
	// +listType=atomic
	// +k8s:validation:maxItems=1024
	Args []string `json:"args,omitempty" protobuf:"bytes,5,rep,name=args"`

	// env are the environment variables of the container.
	//
	// Example: [{name: LEVEL, value: debug}]
	// +optional
	// +patchMergeKey=name
	// +patchStrategy=merge
	// +listType=map
	// +listMapKey=name
	// +k8s:eachVal=+k8s:opaqueType
	// +k8s:validation:maxItems=1024
	Env []corev1.EnvVar `json:"env,omitempty" patchStrategy:"merge" patchMergeKey:"name" protobuf:"bytes,6,rep,name=env"`

	// containerName is the name of the ephemeral container, which no container of the pod may have. Without it, one is generated,
	// such as debugger-x5k2q.
	//
	// Example: debugger
	// +optional
	// +k8s:optional
	// +k8s:format=k8s-short-name
	ContainerName string `json:"containerName,omitempty" protobuf:"bytes,7,opt,name=containerName"`

	// targetContainer is the container of the pod whose processes are seen. Without it, it is the one that the annotation
	// kubectl.kubernetes.io/default-container of the pod names, or else the main container of the box.
	//
	// Example: sidecar
	// +optional
	// +k8s:optional
	// +k8s:format=k8s-short-name
	TargetContainer string `json:"targetContainer,omitempty" protobuf:"bytes,8,opt,name=targetContainer"`

	// profile is what the container may do, by the names of "kubectl debug --profile": "general" may trace processes,
	// "baseline" and "restricted" keep to the Pod Security Standards of these names, "netadmin" may configure the network of
	// the pod, and "sysadmin" is privileged. Without it, it is "general".
	//
	// Example: restricted
	// +optional
	// +k8s:optional
	Profile DebugProfile `json:"profile,omitempty" protobuf:"bytes,9,opt,name=profile,casttype=DebugProfile"`

	// pod is the name of one of the pods of the box. Without it, it is one that runs and is ready, where there is one. May not be
	// given with allPods.
	//
	// Example: web-557996f76b-nb7ck
	// +optional
	// +k8s:optional
	// +k8s:format=k8s-long-name
	Pod string `json:"pod,omitempty" protobuf:"bytes,10,opt,name=pod"`

	// allPods adds the container to each pod of the box that has neither ended nor is to end, of which there may be 100 then. Pods
	// that come later do not get it.
	//
	// Example: true
	// +optional
	AllPods bool `json:"allPods,omitempty" protobuf:"varint,11,opt,name=allPods"`

	// stdin keeps the standard input of the container open, for clients that attach to it.
	//
	// Example: true
	// +optional
	Stdin bool `json:"stdin,omitempty" protobuf:"varint,12,opt,name=stdin"`

	// tty is whether the container has a terminal, which its stdin is then. May not be given without stdin.
	//
	// Example: true
	// +optional
	TTY bool `json:"tty,omitempty" protobuf:"varint,13,opt,name=tty"`

	// status is what has been added. It is ignored in a request.
	//
	// Example: {pods: [{name: web-557996f76b-nb7ck, containerName: debugger-x5k2q, targetContainer: web}]}
	// +optional
	Status ModelBoxDebugStatus `json:"status,omitempty" protobuf:"bytes,14,opt,name=status"`
}

// ModelBoxDebugStatus is what has been added to which pods.
type ModelBoxDebugStatus struct {
	// pods are those that were to get the container, by their names. Where it was one, and it was refused, the refusal is the
	// answer, and not here.
	//
	// Example: [{name: web-557996f76b-nb7ck, containerName: debugger-x5k2q, targetContainer: web}]
	// +optional
	// +listType=map
	// +listMapKey=name
	// +k8s:optional
	// +k8s:listType=map
	// +k8s:listMapKey=name
	Pods []ModelBoxDebugPod `json:"pods,omitempty" protobuf:"bytes,1,rep,name=pods"`
}

// ModelBoxDebugPod is a pod that was to get an ephemeral container.
type ModelBoxDebugPod struct {
	// name is the name of the pod. Required.
	//
	// Example: web-557996f76b-nb7ck
	Name string `json:"name" protobuf:"bytes,1,opt,name=name"`

	// containerName is the ephemeral container that has been added, and none where it was refused.
	//
	// Example: debugger-x5k2q
	// +optional
	ContainerName string `json:"containerName,omitempty" protobuf:"bytes,2,opt,name=containerName"`

	// targetContainer is the container whose processes it sees.
	//
	// Example: web
	// +optional
	TargetContainer string `json:"targetContainer,omitempty" protobuf:"bytes,3,opt,name=targetContainer"`

	// reason is why the cluster refused the container: the reason in the Status of a request for the one pod.
	//
	// Example: Forbidden
	// +optional
	// +k8s:opaqueType
	Reason metav1.StatusReason `json:"reason,omitempty" protobuf:"bytes,4,opt,name=reason,casttype=k8s.io/apimachinery/pkg/apis/meta/v1.StatusReason"`

	// message is the refusal as the cluster words it.
	//
	// Example: pods "web-557996f76b-nb7ck" is forbidden
	// +optional
	Message string `json:"message,omitempty" protobuf:"bytes,5,opt,name=message"`
}
