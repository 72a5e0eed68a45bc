// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package helper

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model"
	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
)

// EffectiveServiceType is the Service type of a box that declares the given one, possibly none, and the given
// ports: where it declares none, NodePort for a box with a nodePort and ClusterIP for any other. The choice is derived
// each time and never stored: a stored one would turn into an error, or outlive its reason, when the user adds or
// removes a nodePort.
func EffectiveServiceType[T model.ServiceType | modelv1.ServiceType](declared T, ports []corev1.ServicePort) T {
	if declared != "" {
		return declared
	}
	for i := range ports {
		if ports[i].NodePort != 0 {
			return T(model.ServiceTypeNodePort)
		}
	}
	return T(model.ServiceTypeClusterIP)
}
