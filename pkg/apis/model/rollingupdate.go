// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package model

import "k8s.io/apimachinery/pkg/util/intstr"

// NewRollingUpdate returns the RollingUpdate of one value for both what may be added and what may be taken away.
func NewRollingUpdate(step intstr.IntOrString) *RollingUpdate {
	return &RollingUpdate{Type: RollingUpdateType(step.Type), IntVal: step.IntVal, StrVal: step.StrVal}
}

// Step returns the one value of a RollingUpdate, false for an object.
func (r *RollingUpdate) Step() (intstr.IntOrString, bool) {
	if r.Type == RollingUpdateObject {
		return intstr.IntOrString{}, false
	}
	return intstr.IntOrString{Type: intstr.Type(r.Type), IntVal: r.IntVal, StrVal: r.StrVal}, true
}
