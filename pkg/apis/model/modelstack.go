// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package model

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// ComponentOrder says whether the components of a stack wait for each other.
type ComponentOrder string

const (
	// ComponentsOrdered lets a component wait for those that it depends on.
	ComponentsOrdered ComponentOrder = "Ordered"
	// ComponentsParallel lets no component wait for another.
	ComponentsParallel ComponentOrder = "Parallel"
)

// ComponentState says how far a component of a stack is.
type ComponentState string

const (
	// ComponentWaiting is held back until others are what they should be.
	ComponentWaiting ComponentState = "Waiting"
	// ComponentProgressing is on its way to what the stack says.
	ComponentProgressing ComponentState = "Progressing"
	// ComponentReady is what the stack says.
	ComponentReady ComponentState = "Ready"
	// ComponentStalled will not become what the stack says until a user or another controller changes something.
	ComponentStalled ComponentState = "Stalled"
	// ComponentTerminating is being deleted.
	ComponentTerminating ComponentState = "Terminating"
)

// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object

// ModelStack is an application of many boxes. The served types document what each field means and promises.
type ModelStack struct {
	metav1.TypeMeta
	metav1.ObjectMeta
	Spec   ModelStackSpec
	Status ModelStackStatus
}

// ModelStackSpec is the desired state of a ModelStack.
type ModelStackSpec struct {
	Components []ModelStackComponent
	Rollout    ComponentOrder
	Deletion   ComponentOrder
	Paused     bool
	Isolate    *bool
}

// ModelStackComponent is a part of a stack: a box, or something outside.
type ModelStackComponent struct {
	Name      string
	BoxName   string
	DependsOn []string
	Box       *ModelBoxSpec
	External  *ModelStackExternal
}

// ModelStackExternal is what a stack uses and does not run.
type ModelStackExternal struct {
	Host                  string
	Port                  int32
	CredentialsSecretName string
}

// ModelStackStatus is the observed state of a ModelStack.
type ModelStackStatus struct {
	ObservedGeneration int64
	ReadyComponents    int32
	TotalComponents    int32
	WaitingFor         string
	Components         []ModelStackComponentStatus
	Conditions         []metav1.Condition
}

// ModelStackComponentStatus is the observed state of a component.
type ModelStackComponentStatus struct {
	Name             string
	State            ComponentState
	WaitingFor       []string
	Reason           string
	Message          string
	ReadyReplicas    int32
	ReadyRevision    string
	LastProgressTime *metav1.Time
}

// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object

// ModelStackList is a list of ModelStacks.
type ModelStackList struct {
	metav1.TypeMeta
	metav1.ListMeta
	Items []ModelStack
}
