// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package status

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/modelbox/kinds"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/render/podresources"
)

// address returns how the box is reached inside the cluster: its Service and the first of its ports. The name of a
// headless Service leads to the pods themselves, so that the port is the one on which they listen. It is empty where
// there is no such port.
func address(box *modelv1.ModelBox, observed *Observation) string {
	service := observed.Service
	if service == nil {
		return ""
	}
	servicePort := firstPort(box, service)
	if servicePort == nil {
		return ""
	}
	port := servicePort.Port
	if service.Spec.ClusterIP == corev1.ClusterIPNone {
		if port = podPort(servicePort, observed.Workload); port == 0 {
			return ""
		}
	}
	return fmt.Sprintf("%s.%s.svc:%d", service.Name, service.Namespace, port)
}

// firstPort returns the port of the live Service that comes first in the box, whatever the order in the Service and whatever other
// managers put before it. If the Service has none of the ports of the box, for example because a paused box has yet to change it,
// firstPort returns the first port of the Service. Nil is a Service without ports.
func firstPort(box *modelv1.ModelBox, service *corev1.Service) *corev1.ServicePort {
	for i := range box.Spec.Ports {
		wanted := &box.Spec.Ports[i]
		at := slices.IndexFunc(service.Spec.Ports, func(port corev1.ServicePort) bool {
			return port.Port == wanted.Port && port.Protocol == wanted.Protocol
		})
		if at >= 0 {
			return &service.Spec.Ports[at]
		}
	}
	if len(service.Spec.Ports) == 0 {
		return nil
	}
	return &service.Spec.Ports[0]
}

// podPort returns the port of the pods that the port of the Service leads to, 0 if they have none of that name. The names are the
// names of ports of containers that run as long as the pod does.
func podPort(port *corev1.ServicePort, workload kinds.Workload) int32 {
	switch {
	case port.TargetPort == intstr.IntOrString{}:
		return port.Port
	case port.TargetPort.Type == intstr.Int:
		return port.TargetPort.IntVal
	case workload == nil:
		return 0
	}
	for container := range podresources.Containers(&workload.PodTemplate().Spec) {
		for _, declared := range container.Ports {
			if declared.Name == port.TargetPort.StrVal && declared.Protocol == port.Protocol {
				return declared.ContainerPort
			}
		}
	}
	return 0
}
