// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package helper

import (
	"cmp"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/validation"
)

// MainContainerPorts are the ports that the main container of a box has to answer: one for each numeric target port
// and protocol of the box's ports that none of the containers beside it declares as its own. Each has the name of the
// first of the box's ports that leads to it, or none where that is no name for a container port. A target port that is
// a name belongs to the container that declares it.
func MainContainerPorts(ports []corev1.ServicePort, beside []corev1.Container) []corev1.ContainerPort {
	type target struct {
		number   int32
		protocol corev1.Protocol
	}
	taken := map[target]bool{}
	for i := range beside {
		for _, port := range beside[i].Ports {
			taken[target{port.ContainerPort, cmp.Or(port.Protocol, corev1.ProtocolTCP)}] = true
		}
	}
	var answered []corev1.ContainerPort
	for i := range ports {
		port := &ports[i]
		key := target{port.TargetPort.IntVal, port.Protocol}
		if port.TargetPort.Type != intstr.Int || taken[key] {
			continue
		}
		taken[key] = true
		name := port.Name
		if len(validation.IsValidPortName(name)) > 0 {
			name = ""
		}
		answered = append(answered, corev1.ContainerPort{Name: name, ContainerPort: key.number, Protocol: key.protocol})
	}
	return answered
}

// ContainersBeside returns all containers of a box except for the main container, which has the given name: its containers, its
// init containers, and the containers of its overlay, which can have the same names.
func ContainersBeside(main string, containers, initContainers []corev1.Container, overlay *corev1.PodTemplateSpec) []corev1.Container {
	beside := slices.Concat(containers, initContainers)
	if overlay == nil {
		return beside
	}
	for _, container := range slices.Concat(overlay.Spec.Containers, overlay.Spec.InitContainers) {
		if container.Name != main {
			beside = append(beside, container)
		}
	}
	return beside
}
