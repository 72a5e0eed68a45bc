// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package model

// RestartTrigger is a change outside of a box that restarts its pods.
type RestartTrigger string

// RestartOnReferences restarts the pods when the data of a ConfigMap or a Secret that they refer to changes.
const RestartOnReferences RestartTrigger = "References"
