// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package model

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object

// ModelBoxDebug is a request to add an ephemeral container to pods of a box, and the answer to it. It is not stored.
type ModelBoxDebug struct {
	metav1.TypeMeta
	metav1.ObjectMeta
	Image           string
	ImagePullPolicy corev1.PullPolicy
	Command         []string
	Args            []string
	Env             []corev1.EnvVar
	ContainerName   string
	TargetContainer string
	Profile         DebugProfile
	Pod             string
	AllPods         bool
	Stdin           bool
	TTY             bool
	Status          ModelBoxDebugStatus
}

// ModelBoxDebugStatus is what has been added to which pods.
type ModelBoxDebugStatus struct {
	Pods []ModelBoxDebugPod
}

// ModelBoxDebugPod is one of the pods.
type ModelBoxDebugPod struct {
	Name            string
	ContainerName   string
	TargetContainer string
	Reason          metav1.StatusReason
	Message         string
}
