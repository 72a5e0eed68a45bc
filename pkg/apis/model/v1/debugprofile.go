// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package v1

// DebugProfile is what a debug container may do beside what its image and its pod let it: a profile of "kubectl debug".
// +enum
// +k8s:enum
type DebugProfile string

const (
	// DebugProfileGeneral may trace the processes of others.
	DebugProfileGeneral DebugProfile = "general"
	// DebugProfileBaseline has what the Pod Security Standard of that name allows.
	DebugProfileBaseline DebugProfile = "baseline"
	// DebugProfileRestricted has what the Pod Security Standard of that name requires. Its image must not run as root.
	DebugProfileRestricted DebugProfile = "restricted"
	// DebugProfileNetadmin may configure the network of the pod, and send what it likes.
	DebugProfileNetadmin DebugProfile = "netadmin"
	// DebugProfileSysadmin is privileged.
	DebugProfileSysadmin DebugProfile = "sysadmin"
)
