// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package helper

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model"
	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
)

// IsExposed returns whether clients outside of the cluster reach the ports of a box, through its Service, or through an Ingress or a
// Gateway if isRouted is true.
func IsExposed[T model.ServiceType | modelv1.ServiceType](ports []corev1.ServicePort, serviceType T, isRouted bool) bool {
	if len(ports) == 0 || isRouted {
		return isRouted
	}
	effective := EffectiveServiceType(serviceType, ports)
	return effective == T(model.ServiceTypeNodePort) || effective == T(model.ServiceTypeLoadBalancer)
}
