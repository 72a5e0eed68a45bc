// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package validation

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/validation/field"

	corevalidation "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/core/validation"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/validate"
)

// validateNamedTargetPort requires that a name leads somewhere, and to one port: the cluster would take any, and route to
// nothing or to the first of several. What can be no name is left to ValidateServicePorts.
func validateNamedTargetPort(port *corev1.ServicePort, targets portNames, path *field.Path) field.ErrorList {
	if port.TargetPort == intstr.FromInt32(port.Port) {
		return nil
	}
	errs := corevalidation.ValidatePortNumOrName(port.TargetPort, path)
	if port.TargetPort == intstr.FromInt32(0) || port.TargetPort == intstr.FromString("") {
		return errs // only the cluster has a default for these
	}
	if port.TargetPort.Type == intstr.Int || len(errs) > 0 {
		return nil
	}
	names := targets.names[port.Protocol]
	meant := targets.meant[portName{port.TargetPort.StrVal, port.Protocol}]
	var detail string
	switch {
	case len(meant) == 1:
		return nil
	case len(meant) > 1:
		detail = "must lead to one port, and is the name of several: " + validate.JoinNames(meant)
	case len(names) > 0:
		detail = fmt.Sprintf("must be a number or the name of a container's %s port: %s", port.Protocol, validate.JoinNames(names))
	default:
		detail = fmt.Sprintf("must be the number or the name of a container's port, and no %s port has a name", port.Protocol)
	}
	return field.ErrorList{field.Invalid(path, port.TargetPort.StrVal, detail)}
}

// portNames are the named container ports that a Service can lead to.
type portNames struct {
	// names are those of each protocol, quoted, in the order of the containers.
	names map[corev1.Protocol][]string
	// meant says for each name which ports have it.
	meant map[portName][]string
}

type portName struct {
	name     string
	protocol corev1.Protocol
}

func portNamesOf(spec *model.ModelBoxSpec) portNames {
	p := portNames{map[corev1.Protocol][]string{}, map[portName][]string{}}
	for _, served := range servedPortsOf(spec).ports {
		if served.port.Name == "" {
			continue
		}
		protocol := cmp.Or(served.port.Protocol, corev1.ProtocolTCP)
		key := portName{served.port.Name, protocol}
		p.names[protocol] = append(p.names[protocol], strconv.Quote(served.port.Name))
		p.meant[key] = append(p.meant[key], fmt.Sprintf("%d of container %q", served.port.ContainerPort, served.container))
	}
	return p
}

// servedPorts are the container ports that a Service can lead to. Init containers that end before the main container
// starts have none.
type servedPorts struct {
	ports []servedPort
	// first has the index of the first port of each container and number.
	first map[containerPort]int
}

type servedPort struct {
	container string
	port      corev1.ContainerPort
}

type containerPort struct {
	container string
	number    int32
}

func servedPortsOf(spec *model.ModelBoxSpec) *servedPorts {
	served := &servedPorts{first: map[containerPort]int{}}
	served.add(spec.Name, mainContainerPorts(spec))
	for i := range spec.Containers {
		served.add(spec.Containers[i].Name, spec.Containers[i].Ports)
	}
	for i := range spec.InitContainers {
		if corevalidation.IsRestartableInitContainer(&spec.InitContainers[i]) {
			served.add(spec.InitContainers[i].Name, spec.InitContainers[i].Ports)
		}
	}
	if spec.PodTemplate == nil {
		return served
	}
	for i := range spec.PodTemplate.Spec.Containers {
		served.merge(spec.PodTemplate.Spec.Containers[i].Name, spec.PodTemplate.Spec.Containers[i].Ports)
	}
	for i := range spec.PodTemplate.Spec.InitContainers {
		if isOverlaidSidecar(&spec.PodTemplate.Spec.InitContainers[i], spec.InitContainers) {
			served.merge(spec.PodTemplate.Spec.InitContainers[i].Name, spec.PodTemplate.Spec.InitContainers[i].Ports)
		}
	}
	return served
}

func (s *servedPorts) add(container string, ports []corev1.ContainerPort) {
	for _, port := range ports {
		s.addOne(container, port)
	}
}

func (s *servedPorts) addOne(container string, port corev1.ContainerPort) {
	key := containerPort{container, port.ContainerPort}
	if _, found := s.first[key]; !found {
		s.first[key] = len(s.ports)
	}
	s.ports = append(s.ports, servedPort{container, port})
}

// merge adds the ports that the overlay gives to a container, as strategic merge does: to the first of the number.
func (s *servedPorts) merge(container string, ports []corev1.ContainerPort) {
	for _, port := range ports {
		i, found := s.first[containerPort{container, port.ContainerPort}]
		if !found {
			s.addOne(container, port)
			continue
		}
		merged := &s.ports[i].port
		merged.Name, merged.Protocol = cmp.Or(port.Name, merged.Name), cmp.Or(port.Protocol, merged.Protocol)
	}
}

// isOverlaidSidecar is true for an init container of the overlay that keeps running, or adds to one that does.
func isOverlaidSidecar(overlay *corev1.Container, initContainers []corev1.Container) bool {
	if overlay.RestartPolicy != nil {
		return corevalidation.IsRestartableInitContainer(overlay)
	}
	return slices.ContainsFunc(initContainers, func(c corev1.Container) bool {
		return c.Name == overlay.Name && corevalidation.IsRestartableInitContainer(&c)
	})
}
