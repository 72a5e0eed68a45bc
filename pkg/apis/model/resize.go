// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package model

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// ResizeMode is what a change of only the CPU and the memory of containers does to the pods of a box.
type ResizeMode string

const (
	// ResizeRestart replaces the pods, as any other change of the pods does.
	ResizeRestart ResizeMode = "Restart"
	// ResizeInPlaceOrRestart resizes the pods in place, and replaces them if a pod cannot be resized.
	ResizeInPlaceOrRestart ResizeMode = "InPlaceOrRestart"
	// ResizeInPlaceOnly resizes the pods in place, and waits if a pod cannot be resized.
	ResizeInPlaceOnly ResizeMode = "InPlaceOnly"
)

// ModelBoxResize is what a change of only the CPU and the memory of containers does to the pods of a box.
type ModelBoxResize struct {
	Mode           ResizeMode
	TimeoutSeconds *int32
}

// ResizePhase is how far a resize in place has come.
type ResizePhase string

// ModelBoxResizeStatus is how far a resize in place of the pods of a box has come.
type ModelBoxResizeStatus struct {
	Phase           ResizePhase
	PodsHash        string
	ResizedReplicas int32
	ProgressedAt    metav1.Time
	Reason          string
	Message         string
}
