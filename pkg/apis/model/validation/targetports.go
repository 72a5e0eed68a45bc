// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package validation

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model"
)

// validateTargetPort requires that a name leads somewhere, and to one port: the cluster would take any, and route to
// nothing or to the first of several.
func validateTargetPort(port *corev1.ServicePort, targets servedPorts, path *field.Path) field.ErrorList {
	if errs := validatePortReference(port.TargetPort, path); len(errs) > 0 || port.TargetPort.Type == intstr.Int {
		return errs
	}
	var names, meant []string
	for _, target := range targets {
		if target.port.Name == "" || protocolOf(target.port) != port.Protocol {
			continue
		}
		if target.port.Name == port.TargetPort.StrVal {
			meant = append(meant, fmt.Sprintf("%d of container %q", target.port.ContainerPort, target.container))
		}
		names = append(names, fmt.Sprintf("%q", target.port.Name))
	}
	var detail string
	switch {
	case len(meant) == 1:
		return nil
	case len(meant) > 1:
		detail = "must lead to one port, and is the name of several: " + strings.Join(meant, ", ")
	case len(names) > 0:
		detail = fmt.Sprintf("must be a number or the name of a container's %s port: %s", port.Protocol, strings.Join(names, ", "))
	default:
		detail = fmt.Sprintf("must be the number or the name of a container's port, and no %s port has a name", port.Protocol)
	}
	return field.ErrorList{field.Invalid(path, port.TargetPort.StrVal, detail)}
}

// validatePortReference requires a port number or something that can be the name of a container port.
func validatePortReference(port intstr.IntOrString, path *field.Path) field.ErrorList {
	if port.Type == intstr.Int {
		return invalid(path, port.IntVal, validation.IsValidPortNum(int(port.IntVal)))
	}
	if number := intstr.Parse(port.StrVal); number.Type == intstr.Int {
		return field.ErrorList{field.Invalid(path, port.StrVal, "must be a number without quotes, or the name of a container's port")}
	}
	return validateFormat(port.StrVal, validation.IsValidPortName, path)
}

// servedPorts are the container ports that a Service can lead to. Init containers that end before the main container
// starts have none.
type servedPorts []servedPort

type servedPort struct {
	container string
	port      corev1.ContainerPort
}

func servedPortsOf(spec *model.ModelBoxSpec) servedPorts {
	var served servedPorts
	served.add(spec.Name, mainContainerPorts(spec))
	for i := range spec.Containers {
		served.add(spec.Containers[i].Name, spec.Containers[i].Ports)
	}
	for i := range spec.InitContainers {
		if isSidecar(&spec.InitContainers[i]) {
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
		*s = append(*s, servedPort{container, port})
	}
}

// merge adds the ports that the overlay gives to a container, as strategic merge does: to the first of the number.
func (s *servedPorts) merge(container string, ports []corev1.ContainerPort) {
	for _, port := range ports {
		i := slices.IndexFunc(*s, func(served servedPort) bool {
			return served.container == container && served.port.ContainerPort == port.ContainerPort
		})
		if i < 0 {
			*s = append(*s, servedPort{container, port})
			continue
		}
		merged := &(*s)[i].port
		merged.Name, merged.Protocol = cmp.Or(port.Name, merged.Name), cmp.Or(port.Protocol, merged.Protocol)
	}
}

// isOverlaidSidecar is true for an init container of the overlay that keeps running, or adds to one that does.
func isOverlaidSidecar(overlay *corev1.Container, initContainers []corev1.Container) bool {
	if overlay.RestartPolicy != nil {
		return isSidecar(overlay)
	}
	return slices.ContainsFunc(initContainers, func(c corev1.Container) bool { return c.Name == overlay.Name && isSidecar(&c) })
}

func protocolOf(port corev1.ContainerPort) corev1.Protocol {
	if port.Protocol == "" {
		return corev1.ProtocolTCP
	}
	return port.Protocol
}
