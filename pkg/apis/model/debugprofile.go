// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package model

// DebugProfile is what a debug container may do.
type DebugProfile string

// These are the profiles of debug containers.
const (
	DebugProfileGeneral    DebugProfile = "general"
	DebugProfileBaseline   DebugProfile = "baseline"
	DebugProfileRestricted DebugProfile = "restricted"
	DebugProfileNetadmin   DebugProfile = "netadmin"
	DebugProfileSysadmin   DebugProfile = "sysadmin"
)
