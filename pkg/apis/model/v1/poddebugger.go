// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package v1

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// PodDebuggerRestartFinalizer is on a PodDebugger that restarts boxes when it is deleted.
const PodDebuggerRestartFinalizer = "model.github.com/restart-boxes"

const (
	// MaxPodDebuggerPods is how many pods a PodDebugger can have at most, and how many its status lists.
	MaxPodDebuggerPods = 100
	// DefaultPodDebuggerMaxPods is how many pods get the container where the PodDebugger does not say it.
	DefaultPodDebuggerMaxPods = int32(10)
)

// PodDebuggerDeletionPolicy says what becomes of the pods of a PodDebugger that is deleted.
// +enum
// +k8s:enum
type PodDebuggerDeletionPolicy string

const (
	// PodDebuggerRetain leaves all pods as they are.
	PodDebuggerRetain PodDebuggerDeletionPolicy = "Retain"
	// PodDebuggerRestartBoxes restarts the boxes of which a pod has the container, and leaves all other pods as they are.
	PodDebuggerRestartBoxes PodDebuggerDeletionPolicy = "RestartBoxes"
)

// +genclient
// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object

// PodDebugger adds an ephemeral container for debugging to all pods of its namespace that a selector selects, including the
// pods of boxes and pods that are created later. "kubectl debug" does this for one pod. A pod that has the container is not
// changed again. An ephemeral container cannot be changed, and cannot be removed from a pod.
type PodDebugger struct {
	// +k8s:opaqueType
	metav1.TypeMeta `json:",inline"`

	// metadata is the standard object metadata. metadata.name must be a DNS-1123 label of at most 63 characters: lower
	// case letters, digits and '-', starting and ending with a letter or a digit.
	//
	// Example: {name: tools, namespace: default}
	// +optional
	// +k8s:opaqueType
	metav1.ObjectMeta `json:"metadata,omitempty" protobuf:"bytes,1,opt,name=metadata"`

	// spec says which pods get which container. Required.
	//
	// Example: {selector: {matchLabels: {modelbox: web}}, image: "busybox:1.37"}
	Spec PodDebuggerSpec `json:"spec" protobuf:"bytes,2,opt,name=spec"`

	// status is what is known of the pods, as the controller last observed them.
	//
	// Example: {containerName: tools-7d9c5, selectedPods: 4, debuggedPods: 4, runningPods: 4}
	// +optional
	Status PodDebuggerStatus `json:"status,omitempty" protobuf:"bytes,3,opt,name=status"`
}

// PodDebuggerSpec is the desired state of a PodDebugger. The fields of the container cannot be changed, because the container
// of a pod cannot be changed. Create another PodDebugger for another container.
type PodDebuggerSpec struct {
	// selector selects pods of the namespace by their labels. It must not be empty, which would select every pod. Pods that it no
	// longer selects keep the container. Required.
	//
	// Example: {matchLabels: {modelbox: web}}
	// +k8s:opaqueType
	Selector metav1.LabelSelector `json:"selector" protobuf:"bytes,1,opt,name=selector"`

	// image is the container image. It cannot be changed. Required.
	//
	// Example: busybox:1.37
	// +k8s:validation:maxLength=1024
	Image string `json:"image" protobuf:"bytes,2,opt,name=image"`

	// imagePullPolicy is when the image is pulled: Always, IfNotPresent or Never. It cannot be changed. Defaults to none, for
	// which the cluster takes Always for an image with the tag latest or without any, and IfNotPresent for all others.
	//
	// Example: IfNotPresent
	// +optional
	// +k8s:opaqueType
	ImagePullPolicy corev1.PullPolicy `json:"imagePullPolicy,omitempty" protobuf:"bytes,3,opt,name=imagePullPolicy,casttype=k8s.io/api/core/v1.PullPolicy"`

	// command replaces the entrypoint of the image. It is not run in a shell, and cannot be changed. Defaults to the
	// entrypoint.
	//
	// Example: [sh, -c, "ps; sleep infinity"]
	// +optional
	// +listType=atomic
	// +k8s:optional
	// +k8s:validation:maxItems=1024
	Command []string `json:"command,omitempty" protobuf:"bytes,4,rep,name=command"`

	// args are the arguments of the entrypoint. They cannot be changed. Defaults to the arguments of the image.
	//
	// Example: [sleep, infinity]
	// +optional
	// +listType=atomic
	// +k8s:optional
	// +k8s:validation:maxItems=1024
	Args []string `json:"args,omitempty" protobuf:"bytes,5,rep,name=args"`

	// env are the environment variables of the container. They cannot be changed. Defaults to none.
	//
	// Example: [{name: LEVEL, value: debug}]
	// +optional
	// +patchMergeKey=name
	// +patchStrategy=merge
	// +listType=map
	// +listMapKey=name
	// +k8s:validation:maxItems=1024
	// +k8s:eachVal=+k8s:opaqueType
	Env []corev1.EnvVar `json:"env,omitempty" patchStrategy:"merge" patchMergeKey:"name" protobuf:"bytes,6,rep,name=env"`

	// targetContainer is the container of the pods whose processes the debug container sees. It cannot be changed. Defaults to
	// none, for which each pod takes the one that its annotation kubectl.kubernetes.io/default-container names, or its first
	// one.
	//
	// Example: nginx
	// +optional
	// +k8s:optional
	// +k8s:format=k8s-short-name
	TargetContainer string `json:"targetContainer,omitempty" protobuf:"bytes,7,opt,name=targetContainer"`

	// profile is what the container may do, by the names of "kubectl debug --profile": "general" may trace processes,
	// "baseline" and "restricted" keep to the Pod Security Standards of these names, "netadmin" may configure the network of
	// the pod, and "sysadmin" is privileged. It cannot be changed. Defaults to "general".
	//
	// Example: restricted
	// +optional
	// +k8s:required
	Profile DebugProfile `json:"profile,omitempty" protobuf:"bytes,8,opt,name=profile,casttype=DebugProfile"`

	// maxPods is how many pods have the container at the same time, from 1 to 100: the oldest of those that the selector
	// selects. Those that have it already count, and so do those that the cluster refuses it for. Fewer than have it take it from
	// none. Defaults to 10.
	//
	// Example: 3
	// +optional
	// +k8s:required
	// +k8s:minimum=1
	// +k8s:maximum=100
	MaxPods *int32 `json:"maxPods,omitempty" protobuf:"varint,9,opt,name=maxPods"`

	// ttlSecondsAfterCreation is for how many seconds after the creation of the PodDebugger pods get the container. No further
	// pod gets it then; the object stays. Defaults to no end.
	//
	// Example: 3600
	// +optional
	// +k8s:optional
	// +k8s:minimum=1
	TTLSecondsAfterCreation *int32 `json:"ttlSecondsAfterCreation,omitempty" protobuf:"varint,10,opt,name=ttlSecondsAfterCreation"`

	// whenDeleted says what becomes of the pods that have the container when the PodDebugger is deleted: "Retain" leaves them
	// as they are, "RestartBoxes" restarts the boxes among whose pods they are, as the subresource restart does, and leaves all
	// other pods. Defaults to "Retain".
	//
	// Example: RestartBoxes
	// +optional
	// +k8s:required
	WhenDeleted PodDebuggerDeletionPolicy `json:"whenDeleted,omitempty" protobuf:"bytes,11,opt,name=whenDeleted,casttype=PodDebuggerDeletionPolicy"`
}

const (
	// ReasonExpired is the reason of a PodDebugger's condition Ready whose ttlSecondsAfterCreation is over: the pods that have
	// the container keep it, and no further pod gets it.
	ReasonExpired = "Expired"
	// ReasonContainerWaiting is for a container that does not run yet, in a pod that does not report why.
	ReasonContainerWaiting = "ContainerWaiting"
)

// PodDebuggerStatus is the observed state of a PodDebugger.
type PodDebuggerStatus struct {
	// observedGeneration is the generation of the PodDebugger that this status was computed for.
	//
	// Example: 1
	// +optional
	// +k8s:optional
	// +k8s:minimum=0
	ObservedGeneration int64 `json:"observedGeneration,omitempty" protobuf:"varint,1,opt,name=observedGeneration"`

	// containerName is the name of the container in every pod.
	//
	// Example: tools-7d9c5
	// +optional
	ContainerName string `json:"containerName,omitempty" protobuf:"bytes,2,opt,name=containerName"`

	// selectedPods is the number of pods that the selector selects: those that run, or are about to.
	//
	// Example: 4
	// +optional
	// +k8s:optional
	// +k8s:minimum=0
	SelectedPods int32 `json:"selectedPods,omitempty" protobuf:"varint,3,opt,name=selectedPods"`

	// debuggedPods is the number of pods that have the container, including pods that are no longer selected.
	//
	// Example: 4
	// +optional
	// +k8s:optional
	// +k8s:minimum=0
	DebuggedPods int32 `json:"debuggedPods,omitempty" protobuf:"varint,4,opt,name=debuggedPods"`

	// runningPods is the number of pods whose container is running.
	//
	// Example: 4
	// +optional
	// +k8s:optional
	// +k8s:minimum=0
	RunningPods int32 `json:"runningPods,omitempty" protobuf:"varint,5,opt,name=runningPods"`

	// refusedPods is the number of pods for which the cluster refused the container.
	//
	// Example: 1
	// +optional
	// +k8s:optional
	// +k8s:minimum=0
	RefusedPods int32 `json:"refusedPods,omitempty" protobuf:"varint,6,opt,name=refusedPods"`

	// pods are those that have the container, and after them those for which it was refused, the oldest first, at most 100.
	//
	// Example: [{name: web-5b8d-x7k2q, box: web, state: {waiting: {reason: ImagePullBackOff}}}]
	// +optional
	// +patchMergeKey=name
	// +patchStrategy=merge
	// +listType=map
	// +listMapKey=name
	Pods []PodDebuggerPod `json:"pods,omitempty" patchStrategy:"merge" patchMergeKey:"name" protobuf:"bytes,7,rep,name=pods"`

	// podsOmitted is the number of pods that pods leaves out.
	//
	// Example: 20
	// +optional
	// +k8s:optional
	// +k8s:minimum=0
	PodsOmitted int32 `json:"podsOmitted,omitempty" protobuf:"varint,8,opt,name=podsOmitted"`

	// conditions are Applied, which is true while every pod has the container that is to have it, and Ready, which is true while
	// none of the containers waits to be started either.
	//
	// Example: [{type: Applied, status: "False", reason: Forbidden, message: "pods \"web-0\" is forbidden: violates PodSecurity"}]
	// +optional
	// +patchMergeKey=type
	// +patchStrategy=merge
	// +listType=map
	// +listMapKey=type
	// +k8s:eachVal=+k8s:opaqueType
	Conditions []metav1.Condition `json:"conditions,omitempty" patchStrategy:"merge" patchMergeKey:"type" protobuf:"bytes,9,rep,name=conditions"`
}

// PodDebuggerPod is a pod that has the container of a PodDebugger, or for which it was refused.
type PodDebuggerPod struct {
	// name is the name of the pod. Required.
	//
	// Example: web-5b8d-x7k2q
	Name string `json:"name" protobuf:"bytes,1,opt,name=name"`

	// uid is the UID of the pod.
	//
	// Example: 6f0b1c9e-5a53-4c55-9d0e-5e1f3a1f7d11
	// +optional
	// +k8s:opaqueType
	UID types.UID `json:"uid,omitempty" protobuf:"bytes,2,opt,name=uid,casttype=k8s.io/apimachinery/pkg/types.UID"`

	// box is the name of the box whose pod it is. Defaults to none, for the pods of others.
	//
	// Example: web
	// +optional
	Box string `json:"box,omitempty" protobuf:"bytes,3,opt,name=box"`

	// state is the state of the container: waiting, running or terminated. It is waiting if the state is not known yet. A pod
	// whose container was refused has none.
	//
	// Example: {running: {startedAt: "2026-01-02T03:04:05Z"}}
	// +optional
	// +k8s:opaqueType
	State *corev1.ContainerState `json:"state,omitempty" protobuf:"bytes,4,opt,name=state"`

	// refusal is what the cluster answered when it refused the container for the pod, word by word.
	//
	// Example: 'pods "web-0" is forbidden: violates PodSecurity "restricted:latest"'
	// +optional
	Refusal string `json:"refusal,omitempty" protobuf:"bytes,5,opt,name=refusal"`
}

// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object

// PodDebuggerList is a list of PodDebuggers.
type PodDebuggerList struct {
	metav1.TypeMeta `json:",inline"`

	// metadata is the standard list metadata.
	//
	// Example: {resourceVersion: "4711"}
	// +optional
	metav1.ListMeta `json:"metadata,omitempty" protobuf:"bytes,1,opt,name=metadata"`

	// items are the PodDebuggers. Required.
	//
	// Example: [{metadata: {name: tools}, spec: {selector: {matchLabels: {modelbox: web}}, image: "busybox:1.37"}}]
	Items []PodDebugger `json:"items" protobuf:"bytes,2,rep,name=items"`
}
