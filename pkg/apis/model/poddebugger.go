// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package model

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object

// PodDebugger gives pods that a selector selects an ephemeral container. The served types document what each field means and
// promises.
type PodDebugger struct {
	metav1.TypeMeta
	metav1.ObjectMeta
	Spec   PodDebuggerSpec
	Status PodDebuggerStatus
}

// PodDebuggerDeletionPolicy says what becomes of the pods of a PodDebugger that is deleted.
type PodDebuggerDeletionPolicy string

// These are the deletion policies of PodDebuggers.
const (
	PodDebuggerRetain       PodDebuggerDeletionPolicy = "Retain"
	PodDebuggerRestartBoxes PodDebuggerDeletionPolicy = "RestartBoxes"
)

// PodDebuggerSpec is the desired state of a PodDebugger.
type PodDebuggerSpec struct {
	Selector                metav1.LabelSelector
	Image                   string
	ImagePullPolicy         corev1.PullPolicy
	Command                 []string
	Args                    []string
	Env                     []corev1.EnvVar
	TargetContainer         string
	Profile                 DebugProfile
	MaxPods                 *int32
	TTLSecondsAfterCreation *int32
	WhenDeleted             PodDebuggerDeletionPolicy
}

// PodDebuggerStatus is the observed state of a PodDebugger.
type PodDebuggerStatus struct {
	ObservedGeneration int64
	ContainerName      string
	SelectedPods       int32
	DebuggedPods       int32
	RunningPods        int32
	RefusedPods        int32
	Pods               []PodDebuggerPod
	PodsOmitted        int32
	Conditions         []metav1.Condition
}

// PodDebuggerPod is a pod that has the container of a PodDebugger, or for which it was refused.
type PodDebuggerPod struct {
	Name    string
	UID     types.UID
	Box     string
	State   *corev1.ContainerState
	Refusal string
}

// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object

// PodDebuggerList is a list of PodDebuggers.
type PodDebuggerList struct {
	metav1.TypeMeta
	metav1.ListMeta
	Items []PodDebugger
}
