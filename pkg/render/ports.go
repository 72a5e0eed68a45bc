// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package render

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/validation"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
)

// mainContainerPorts are the ports of the box that the main container has to answer: those with a number that no
// other container of the box declares as its own. A targetPort that is a name belongs to the container that
// declares the name.
func mainContainerPorts(spec *modelv1.ModelBoxSpec) []corev1.ContainerPort {
	taken := declaredPorts(spec)
	var ports []corev1.ContainerPort
	for i := range spec.Ports {
		port := &spec.Ports[i]
		key := portKey{port.TargetPort.IntVal, port.Protocol}
		if port.TargetPort.Type != intstr.Int || taken[key] {
			continue
		}
		taken[key] = true
		ports = append(ports, corev1.ContainerPort{
			Name:          containerPortName(port.Name),
			ContainerPort: port.TargetPort.IntVal,
			Protocol:      port.Protocol,
		})
	}
	return ports
}

// portKey is what makes a container port unique in a pod.
type portKey struct {
	number   int32
	protocol corev1.Protocol
}

// declaredPorts are the ports of the containers beside the main one, sidecars among the init containers included.
func declaredPorts(spec *modelv1.ModelBoxSpec) map[portKey]bool {
	declared := map[portKey]bool{}
	for _, containers := range [][]corev1.Container{spec.Containers, spec.InitContainers} {
		for i := range containers {
			for _, port := range containers[i].Ports {
				declared[portKey{port.ContainerPort, port.Protocol}] = true
			}
		}
	}
	return declared
}

// containerPortName keeps the name of a Service port where a container port may have it: those are shorter.
func containerPortName(name string) string {
	if len(validation.IsValidPortName(name)) > 0 {
		return ""
	}
	return name
}
