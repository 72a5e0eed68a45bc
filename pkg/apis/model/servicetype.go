// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package model

import corev1 "k8s.io/api/core/v1"

// EffectiveServiceType is the Service type of a box that declares the given one, possibly none, and the given
// ports. The choice for a box that declares none is derived each time and never stored: a stored one would
// turn into an error, or outlive its reason, when the user adds or removes a nodePort.
func EffectiveServiceType(declared ServiceType, ports []corev1.ServicePort) ServiceType {
	if declared != "" {
		return declared
	}
	for i := range ports {
		if ports[i].NodePort != 0 {
			return ServiceTypeNodePort
		}
	}
	return ServiceTypeClusterIP
}
