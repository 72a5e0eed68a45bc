// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package v1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

const (
	// OrderedDeletionFinalizer is on a stack whose spec.deletion is "Ordered" from before it has children until they have
	// been deleted.
	OrderedDeletionFinalizer = "model.github.com/ordered-deletion"

	// StackLabel is on every child of a stack. Its value is the name of the stack.
	StackLabel = "model.github.com/stack"

	// ComponentLabel is on every child of a stack. Its value is the name of the component.
	ComponentLabel = "model.github.com/component"

	// DependsOnAnnotation is on every child of a stack whose component depends on others. Its value is their names: a component
	// that is taken out of the stack is still known by them to those that have not been updated.
	DependsOnAnnotation = "model.github.com/depends-on"
)

// ComponentOrder says whether the components of a stack wait for each other.
// +enum
// +k8s:enum
type ComponentOrder string

const (
	// ComponentsOrdered lets a component wait for those that it depends on, and when the stack is deleted for those that
	// depend on it.
	ComponentsOrdered ComponentOrder = "Ordered"
	// ComponentsParallel lets no component wait for another.
	ComponentsParallel ComponentOrder = "Parallel"
)

// ComponentState says how far a component of a stack is.
// +enum
// +k8s:enum
type ComponentState string

const (
	// ComponentWaiting is held back until the components in waitingFor are what they should be.
	ComponentWaiting ComponentState = "Waiting"
	// ComponentProgressing is on its way to what the stack says.
	ComponentProgressing ComponentState = "Progressing"
	// ComponentReady is what the stack says.
	ComponentReady ComponentState = "Ready"
	// ComponentStalled will not become what the stack says until a user intervenes.
	ComponentStalled ComponentState = "Stalled"
	// ComponentTerminating is being deleted.
	ComponentTerminating ComponentState = "Terminating"
)

// +genclient
// +genclient:method=GetRender,verb=get,subresource=render,result=k8s.io/apimachinery/pkg/apis/meta/v1.List
// +genclient:method=CreateRender,verb=create,subresource=render,input=github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1.ModelStack,result=k8s.io/apimachinery/pkg/apis/meta/v1.List
// +genclient:method=GetDiff,verb=get,subresource=diff,result=k8s.io/apimachinery/pkg/apis/meta/v1.List
// +genclient:method=CreateDiff,verb=create,subresource=diff,input=github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1.ModelStack,result=k8s.io/apimachinery/pkg/apis/meta/v1.List
// +genclient:method=CreateRestart,verb=create,subresource=restart,input=github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1.ModelBoxRestart,result=github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1.ModelBoxRestart
// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object

// ModelStack is an application of many boxes. The server creates the box of a component when everything that it depends
// on is ready, tells it how to connect to that, and keeps all boxes as the stack says.
type ModelStack struct {
	// +k8s:opaqueType
	metav1.TypeMeta `json:",inline"`

	// metadata is the standard object metadata. metadata.name must be a DNS-1035 label of at most 63 characters: lower
	// case letters, digits and '-', starting with a letter. The names of the boxes begin with it, unless they are given.
	//
	// Example: {name: shop, namespace: default}
	// +optional
	// +k8s:opaqueType
	metav1.ObjectMeta `json:"metadata,omitempty" protobuf:"bytes,1,opt,name=metadata"`

	// spec is what the application should be. Required.
	//
	// Example: {components: [{name: web, box: {image: "nginx:1.7.9", ports: [{port: 80}]}}]}
	Spec ModelStackSpec `json:"spec" protobuf:"bytes,2,opt,name=spec"`

	// status is what the application is, as last observed by the controller. Read-only.
	//
	// Example: {observedGeneration: 1, readyComponents: 1, totalComponents: 1}
	// +optional
	Status ModelStackStatus `json:"status,omitempty" protobuf:"bytes,3,opt,name=status"`
}

// ModelStackSpec is the desired state of a ModelStack.
type ModelStackSpec struct {
	// components are the parts of the application, at most 500. Required.
	//
	// Example: [{name: db, external: {host: db.example.com, port: 3306}}, {name: web, dependsOn: [db], box: {image: "nginx:1.7.9"}}]
	// +patchMergeKey=name
	// +patchStrategy=merge
	// +listType=map
	// +listMapKey=name
	// +k8s:required
	// +k8s:listType=map
	// +k8s:listMapKey=name
	// +k8s:validation:maxItems=500
	Components []ModelStackComponent `json:"components" patchStrategy:"merge" patchMergeKey:"name" protobuf:"bytes,1,rep,name=components"`

	// rollout is "Ordered" to let a changed component wait until all is ready that it depends on, at whatever distance, or
	// "Parallel" to change all at once. A component that is new waits for what it depends on in any case. Defaults to "Ordered".
	//
	// Example: Parallel
	// +optional
	// +k8s:required
	Rollout ComponentOrder `json:"rollout,omitempty" protobuf:"bytes,2,opt,name=rollout,casttype=ComponentOrder"`

	// deletion is "Ordered" to delete a component when those that depend on it have gone, or "Parallel" to delete all at
	// once. Defaults to "Ordered".
	//
	// Example: Parallel
	// +optional
	// +k8s:required
	Deletion ComponentOrder `json:"deletion,omitempty" protobuf:"bytes,3,opt,name=deletion,casttype=ComponentOrder"`

	// paused stops the updates of the boxes and Services: changes of the stack wait until it is false again. The boxes themselves
	// are not paused. Defaults to false.
	//
	// Example: true
	// +optional
	Paused bool `json:"paused,omitempty" protobuf:"varint,4,opt,name=paused"`

	// isolate restricts the connections of the components by NetworkPolicies. A component accepts connections of the components that
	// depend on it, and of every client if it has an ingress, a route or a Service for clients outside of the cluster. It reaches its
	// dependencies and DNS. networkPolicy of its box allows further connections. Defaults to false.
	//
	// Example: true
	// +optional
	Isolate *bool `json:"isolate,omitempty" protobuf:"varint,5,opt,name=isolate"`
}

// ModelStackComponent is a part of a stack: a box, or something outside.
type ModelStackComponent struct {
	// name is what the other components know it by, a DNS-1035 label of at most 63 characters. In upper case and with '_'
	// for '-', it is what the environment variables begin with that they get. Components differ in it. Required.
	//
	// Example: db
	// +k8s:required
	Name string `json:"name" protobuf:"bytes,1,opt,name=name"`

	// boxName is the name of the box, or of the Service that leads to what is outside. No two components have the same.
	// It stays what it is when an update leaves it out, also if the component goes from box to external or back: what
	// uses the name finds it either way. Another name is another box: the old one is deleted. Defaults to the name of the
	// stack, '-' and the name of the component for a box, and to the name of the component for what is outside.
	//
	// Example: shop-db
	// +optional
	// +k8s:required
	BoxName string `json:"boxName,omitempty" protobuf:"bytes,2,opt,name=boxName"`

	// dependsOn are the names of the components that this one needs, at most 64. They must have ports, or workload "Job". The box
	// is created when they are ready, which a Job is when it has succeeded. For each of them with ports, all containers of the box
	// get the environment variables <NAME>_HOST, <NAME>_PORT, which is its first port, <NAME>_URL, which is both joined by ':', and
	// the keys of credentialsSecretName. <NAME> is its name in upper case, with '_' for '-'. A variable that the component itself
	// sets takes precedence. Defaults to none.
	//
	// Example: [db]
	// +optional
	// +listType=set
	// +k8s:optional
	// +k8s:listType=set
	// +k8s:validation:maxItems=64
	DependsOn []string `json:"dependsOn,omitempty" protobuf:"bytes,3,rep,name=dependsOn"`

	// box is the spec of the box of the component. The stack does not set the fields that it omits: the box has their defaults. A
	// component has either box or external.
	//
	// Example: {image: "mysql:8.0", workload: StatefulSet, ports: [{port: 3306}]}
	// +optional
	// +k8s:opaqueType
	Box *ModelBoxSpec `json:"box,omitempty" protobuf:"bytes,4,opt,name=box"`

	// external is something that the stack uses and does not run. A Service leads to it. A component has either a box or
	// external.
	//
	// Example: {host: db.example.com, port: 3306}
	// +optional
	// +k8s:optional
	External *ModelStackExternal `json:"external,omitempty" protobuf:"bytes,5,opt,name=external"`
}

// ModelStackExternal is what a stack uses and does not run.
type ModelStackExternal struct {
	// host is its DNS name or its IP address, in canonical form. Required.
	//
	// Example: db.example.com
	// +k8s:required
	// +k8s:validation:maxLength=253
	Host string `json:"host" protobuf:"bytes,1,opt,name=host"`

	// port is the port number that it listens on with TCP, from 1 to 65535. Required.
	//
	// Example: 3306
	// +k8s:required
	Port int32 `json:"port" protobuf:"varint,2,opt,name=port"`

	// credentialsSecretName is a Secret of the namespace. The components that depend on this one get its keys as
	// environment variables, each after <NAME>_. Defaults to none.
	//
	// Example: db-credentials
	// +optional
	// +k8s:optional
	// +k8s:format=k8s-long-name
	CredentialsSecretName string `json:"credentialsSecretName,omitempty" protobuf:"bytes,3,opt,name=credentialsSecretName"`
}

// The reasons of a stack's conditions and components that a box does not have.
const (
	// ReasonWaiting: a component waits for others.
	ReasonWaiting = "Waiting"
	// ReasonComponentStalled: a component will not become what the stack says until a user or another controller changes something.
	ReasonComponentStalled = "ComponentStalled"
	// ReasonDeleting: the components are being deleted.
	ReasonDeleting = "Deleting"
)

// ModelStackStatus is the observed state of a ModelStack.
type ModelStackStatus struct {
	// observedGeneration is the generation of the stack that this status was computed for. When it is less than
	// metadata.generation, the rest of the status is about an older spec.
	//
	// Example: 3
	// +optional
	// +k8s:optional
	// +k8s:minimum=0
	ObservedGeneration int64 `json:"observedGeneration,omitempty" protobuf:"varint,1,opt,name=observedGeneration"`

	// readyComponents is the number of components that are what the stack says and ready.
	//
	// Example: 10
	// +optional
	// +k8s:optional
	// +k8s:minimum=0
	ReadyComponents int32 `json:"readyComponents,omitempty" protobuf:"varint,2,opt,name=readyComponents"`

	// totalComponents is the number of components of the stack.
	//
	// Example: 12
	// +optional
	// +k8s:optional
	// +k8s:minimum=0
	TotalComponents int32 `json:"totalComponents,omitempty" protobuf:"varint,3,opt,name=totalComponents"`

	// waitingFor are the components that others wait for, for people to read. Empty when none waits.
	//
	// Example: "db, auth"
	// +optional
	WaitingFor string `json:"waitingFor,omitempty" protobuf:"bytes,4,opt,name=waitingFor"`

	// components are the components of the stack and those that are being deleted.
	//
	// Example: [{name: db, state: Progressing, message: "0 of 1 pods are available"}]
	// +optional
	// +patchMergeKey=name
	// +patchStrategy=merge
	// +listType=map
	// +listMapKey=name
	// +k8s:optional
	// +k8s:listType=map
	// +k8s:listMapKey=name
	Components []ModelStackComponentStatus `json:"components,omitempty" patchStrategy:"merge" patchMergeKey:"name" protobuf:"bytes,5,rep,name=components"`

	// conditions are Ready, Progressing and Applied; Stalled while it is True.
	//
	// Example: [{type: Ready, status: "False", reason: Progressing, message: "10 of 12 components are ready"}]
	// +optional
	// +patchMergeKey=type
	// +patchStrategy=merge
	// +listType=map
	// +listMapKey=type
	// +k8s:eachVal=+k8s:opaqueType
	Conditions []metav1.Condition `json:"conditions,omitempty" patchStrategy:"merge" patchMergeKey:"type" protobuf:"bytes,6,rep,name=conditions"`
}

// ModelStackComponentStatus is the observed state of a component.
type ModelStackComponentStatus struct {
	// name is the name of the component. Required.
	//
	// Example: web
	Name string `json:"name" protobuf:"bytes,1,opt,name=name"`

	// state is "Ready" for a component that is what the stack says and ready; "Waiting" while it is held back until those
	// in waitingFor are; "Progressing" on its way; "Stalled" when it will not get there until a user intervenes;
	// "Terminating" while it is being deleted. Required.
	//
	// Example: Waiting
	// +k8s:required
	State ComponentState `json:"state" protobuf:"bytes,2,opt,name=state,casttype=ComponentState"`

	// waitingFor are the components that this one waits for.
	//
	// Example: [db]
	// +optional
	// +listType=atomic
	WaitingFor []string `json:"waitingFor,omitempty" protobuf:"bytes,3,rep,name=waitingFor"`

	// reason is why the component is not ready, in one word: the reason of the box, or the reason why the box could not be
	// written.
	//
	// Example: ImagePullBackOff
	// +optional
	Reason string `json:"reason,omitempty" protobuf:"bytes,4,opt,name=reason"`

	// message is the same for people to read.
	//
	// Example: "0 of 1 pods are available"
	// +optional
	Message string `json:"message,omitempty" protobuf:"bytes,5,opt,name=message"`

	// readyReplicas is the number of pods of the box that are ready.
	//
	// Example: 4
	// +optional
	// +k8s:optional
	// +k8s:minimum=0
	ReadyReplicas int32 `json:"readyReplicas,omitempty" protobuf:"varint,6,opt,name=readyReplicas"`

	// readyRevision identifies what the stack said of the component when it was ready last.
	//
	// Example: 3f9a4c5d17
	// +optional
	ReadyRevision string `json:"readyRevision,omitempty" protobuf:"bytes,7,opt,name=readyRevision"`

	// lastProgressTime is when the component last came nearer to what the stack says.
	//
	// Example: "2025-06-01T12:00:00Z"
	// +optional
	// +k8s:opaqueType
	LastProgressTime *metav1.Time `json:"lastProgressTime,omitempty" protobuf:"bytes,8,opt,name=lastProgressTime"`
}

// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object

// ModelStackList is a list of ModelStacks.
type ModelStackList struct {
	metav1.TypeMeta `json:",inline"`

	// metadata is the standard list metadata.
	//
	// Example: {resourceVersion: "4711"}
	// +optional
	metav1.ListMeta `json:"metadata,omitempty" protobuf:"bytes,1,opt,name=metadata"`

	// items are the stacks. Required.
	//
	// Example: [{metadata: {name: shop}, spec: {components: [{name: web, box: {image: "nginx:1.7.9"}}]}}]
	Items []ModelStack `json:"items" protobuf:"bytes,2,rep,name=items"`
}
