// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package validation

import (
	"cmp"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/validate"
)

// validateContainerPorts requires that no port is listed twice: number and protocol are the key of the list, and
// server-side apply takes each key once.
func validateContainerPorts(ports []corev1.ContainerPort, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	numbers := validate.Unique[string]{}
	for i := range validate.Each(ports, &errs) {
		port, portPath := &ports[i], path.Index(i)
		errs = append(errs, validateContainerPort(port, portPath)...)
		errs = append(errs, numbers.Add(fmt.Sprintf("%d/%s", port.ContainerPort, cmp.Or(port.Protocol, corev1.ProtocolTCP)), portPath)...)
	}
	return errs
}

func validateContainerPort(port *corev1.ContainerPort, path *field.Path) field.ErrorList {
	errs := slices.Concat(
		validate.Invalid(path.Child("containerPort"), port.ContainerPort, validation.IsValidPortNum(int(port.ContainerPort))),
		validate.OptionalEnum(port.Protocol, protocols, path.Child("protocol")),
	)
	if port.Name != "" {
		errs = append(errs, validate.Format(port.Name, validation.IsValidPortName, path.Child("name"))...)
	}
	if port.HostPort != 0 {
		errs = append(errs, validate.Invalid(path.Child("hostPort"), port.HostPort, validation.IsValidPortNum(int(port.HostPort)))...)
	}
	return errs
}

// validateHostPorts refuses a host port that is among those of taken, and adds the others. On the host's network every
// port is a host port.
func (p PodContext) validateHostPorts(ports []corev1.ContainerPort, taken validate.Unique[string], path *field.Path) field.ErrorList {
	var errs field.ErrorList
	for i := range validate.Each(ports, &errs) {
		port, portPath := &ports[i], path.Index(i)
		number := port.HostPort
		if p.hostNetwork && number == 0 {
			number, portPath = port.ContainerPort, portPath.Child("containerPort")
		} else {
			portPath = portPath.Child("hostPort")
		}
		if number != 0 {
			errs = append(errs, taken.Add(fmt.Sprintf("%s/%s/%d", cmp.Or(port.Protocol, corev1.ProtocolTCP), port.HostIP, number), portPath)...)
		}
	}
	return errs
}

// ValidateContainerPortNames requires that a port name stands for one port of the pod, as the Pod API documents: a
// target port that names two leads to either.
func ValidateContainerPortNames(containers, initContainers []corev1.Container, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	names := validate.Unique[string]{}
	validateNames := func(containers []corev1.Container, path *field.Path) {
		for i := range validate.Each(containers, &errs) {
			for j, port := range validate.Each(containers[i].Ports, &errs) {
				errs = append(errs, names.Add(port.Name, path.Index(i).Child("ports").Index(j).Child("name"))...)
			}
		}
	}
	validateNames(containers, path.Child("containers"))
	validateNames(initContainers, path.Child("initContainers"))
	return errs
}

// addPortNames returns names with those by which the probes and hooks of a container can mean its ports.
func addPortNames(names sets.Set[string], ports []corev1.ContainerPort) sets.Set[string] {
	names = names.Clone()
	for i := range ports {
		names.Insert(ports[i].Name)
	}
	return names.Delete("")
}

// ValidatePortNumOrName requires a port number or something that can be the name of a container port.
func ValidatePortNumOrName(port intstr.IntOrString, path *field.Path) field.ErrorList {
	if port.Type == intstr.Int {
		return validate.Invalid(path, port.IntVal, validation.IsValidPortNum(int(port.IntVal)))
	}
	if number := intstr.Parse(port.StrVal); number.Type == intstr.Int {
		return field.ErrorList{field.Invalid(path, port.StrVal, "must be a number without quotes, or the name of a container's port")}
	}
	return validate.Format(port.StrVal, validation.IsValidPortName, path)
}
