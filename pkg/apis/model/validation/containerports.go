// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package validation

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/helper"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/validate"
)

// mainContainerPorts are the ports that the main container declares without the overlay's doing.
func mainContainerPorts(spec *model.ModelBoxSpec) []corev1.ContainerPort {
	beside := helper.ContainersBeside(spec.Name, spec.Containers, spec.InitContainers, spec.PodTemplate)
	return helper.MainContainerPorts(spec.Ports, beside)
}

// validateContainerPorts requires that no port is listed twice: number and protocol are the key of the list, and
// server-side apply takes each key once.
func validateContainerPorts(ports []corev1.ContainerPort, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	numbers := validate.Unique[string]{}
	for i := range validate.Each(ports, &errs) {
		port, portPath := &ports[i], path.Index(i)
		errs = append(errs, validateContainerPort(port, portPath)...)
		errs = append(errs, numbers.Add(fmt.Sprintf("%d/%s", port.ContainerPort, protocolOf(*port)), portPath)...)
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
func (p podContext) validateHostPorts(ports []corev1.ContainerPort, taken validate.Unique[string], path *field.Path) field.ErrorList {
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
			errs = append(errs, taken.Add(fmt.Sprintf("%s/%s/%d", protocolOf(*port), port.HostIP, number), portPath)...)
		}
	}
	return errs
}

// validateContainerPortNames requires that a port name stands for one port of the pod, as the Pod API documents: a
// target port that names two leads to either.
func validateContainerPortNames(containers, initContainers []corev1.Container, path *field.Path) field.ErrorList {
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

// addPortNames adds the names by which the probes and hooks of a container can mean its ports.
func addPortNames(names sets.Set[string], ports []corev1.ContainerPort) sets.Set[string] {
	for i := range ports {
		names.Insert(ports[i].Name)
	}
	return names.Delete("")
}
