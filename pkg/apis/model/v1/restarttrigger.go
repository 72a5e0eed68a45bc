// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package v1

// RestartTrigger is a change outside of a box that restarts its pods.
// +enum
// +k8s:enum
type RestartTrigger string

// RestartOnReferences restarts the pods when the data of a ConfigMap or a Secret that they refer to changes.
const RestartOnReferences RestartTrigger = "References"

// RestartsOnReferences returns whether a change of a ConfigMap or a Secret that the pods of the box refer to restarts them.
func (spec *ModelBoxSpec) RestartsOnReferences() bool {
	return spec.RestartOn != nil && *spec.RestartOn == RestartOnReferences
}
