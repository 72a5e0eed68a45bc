// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package validation

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model"
)

// validateTargetPort requires that a name leads somewhere: the cluster would take any, and route to nothing.
func validateTargetPort(port *corev1.ServicePort, targets []corev1.ContainerPort, path *field.Path) field.ErrorList {
	if errs := validatePortReference(port.TargetPort, path); len(errs) > 0 || port.TargetPort.Type == intstr.Int {
		return errs
	}
	var names []string
	for i := range targets {
		if targets[i].Name == "" || protocolOf(targets[i]) != port.Protocol {
			continue
		}
		if targets[i].Name == port.TargetPort.StrVal {
			return nil
		}
		names = append(names, fmt.Sprintf("%q", targets[i].Name))
	}
	detail := fmt.Sprintf("must be the number or the name of a container's port, and no %s port has a name", port.Protocol)
	if len(names) > 0 {
		detail = fmt.Sprintf("must be a number or the name of a container's %s port: %s", port.Protocol, strings.Join(names, ", "))
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

// servedPorts are the container ports that a Service can lead to. Init containers that end before the main
// container starts have none.
func servedPorts(spec *model.ModelBoxSpec) []corev1.ContainerPort {
	ports := model.MainContainerPorts(spec.Ports, spec.Containers, spec.InitContainers)
	for i := range spec.Containers {
		ports = append(ports, spec.Containers[i].Ports...)
	}
	for i := range spec.InitContainers {
		if isSidecar(&spec.InitContainers[i]) {
			ports = append(ports, spec.InitContainers[i].Ports...)
		}
	}
	if spec.PodTemplate == nil {
		return ports
	}
	for i := range spec.PodTemplate.Spec.Containers {
		ports = append(ports, spec.PodTemplate.Spec.Containers[i].Ports...)
	}
	for i := range spec.PodTemplate.Spec.InitContainers {
		if isOverlaidSidecar(&spec.PodTemplate.Spec.InitContainers[i], spec.InitContainers) {
			ports = append(ports, spec.PodTemplate.Spec.InitContainers[i].Ports...)
		}
	}
	return ports
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
