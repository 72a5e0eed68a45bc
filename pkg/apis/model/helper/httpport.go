// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package helper

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// HTTPPort returns the one of the ports that HTTP from outside of the cluster goes to: the one with protocol TCP of that number
// or name, or the first one with protocol TCP where wanted is nil. Nil is none.
func HTTPPort(ports []corev1.ServicePort, wanted *intstr.IntOrString) *corev1.ServicePort {
	i := slices.IndexFunc(ports, func(port corev1.ServicePort) bool {
		switch {
		case port.Protocol != corev1.ProtocolTCP:
			return false
		case wanted == nil:
			return true
		case wanted.Type == intstr.String:
			return wanted.StrVal != "" && port.Name == wanted.StrVal
		default:
			return port.Port == wanted.IntVal
		}
	})
	if i < 0 {
		return nil
	}
	return &ports[i]
}
