// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package validation

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/validate"
)

// validateHostNamespaces validates what a pod may share with its node.
func validateHostNamespaces(spec *corev1.PodSpec, path *field.Path) field.ErrorList {
	errs := slices.Concat(
		validateHostNetworkPorts(spec, path.Child("containers")),
		validateHostUsers(spec, path),
	)
	if spec.HostPID && isTrue(spec.ShareProcessNamespace) {
		errs = append(errs, field.Invalid(path.Child("shareProcessNamespace"), true, "must be false or left out when hostPID is true"))
	}
	return errs
}

// validateHostNetworkPorts requires that no port of a container is another one on the host's network.
func validateHostNetworkPorts(spec *corev1.PodSpec, path *field.Path) field.ErrorList {
	if !spec.HostNetwork {
		return nil
	}
	var errs field.ErrorList
	for i := range validate.Each(spec.Containers, &errs) {
		for j, port := range validate.Each(spec.Containers[i].Ports, &errs) {
			if port.HostPort != 0 && port.HostPort != port.ContainerPort {
				errs = append(errs, field.Invalid(path.Index(i).Child("ports").Index(j).Child("hostPort"), port.HostPort,
					"must be containerPort or left out when hostNetwork is true"))
			}
		}
	}
	return errs
}

// validateHostUsers refuses what a pod with its own users cannot have of its node.
func validateHostUsers(spec *corev1.PodSpec, path *field.Path) field.ErrorList {
	if spec.HostUsers == nil || *spec.HostUsers {
		return nil
	}
	const detail = "may not be given when hostUsers is false"
	errs := validate.Forbidden(detail, path, []validate.Field{
		{Name: "hostNetwork", Set: spec.HostNetwork},
		{Name: "hostPID", Set: spec.HostPID},
		{Name: "hostIPC", Set: spec.HostIPC},
	})
	visitContainers(spec, path, func(container *corev1.Container, containerPath *field.Path) {
		errs = append(errs, validate.Forbidden(detail, containerPath, []validate.Field{{Name: "volumeDevices", Set: len(container.VolumeDevices) > 0}})...)
	})
	return errs
}

// visitContainers calls visit for each container of the pod, init containers first.
func visitContainers(spec *corev1.PodSpec, path *field.Path, visit func(*corev1.Container, *field.Path)) {
	for i := range spec.InitContainers {
		visit(&spec.InitContainers[i], path.Child("initContainers").Index(i))
	}
	for i := range spec.Containers {
		visit(&spec.Containers[i], path.Child("containers").Index(i))
	}
}
