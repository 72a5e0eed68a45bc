// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

// Package podresources compares and sets the CPU and the memory of the containers of pods: what Kubernetes can change of a pod in place.
package podresources

import (
	"iter"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/utils/ptr"
)

// resizable are the resources that containers can get in place.
var resizable = []corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory}

// Containers returns the containers that can be resized in place: all that run as long as the pod does.
func Containers(spec *corev1.PodSpec) iter.Seq[*corev1.Container] {
	return func(yield func(*corev1.Container) bool) {
		for i := range spec.Containers {
			if !yield(&spec.Containers[i]) {
				return
			}
		}
		for i := range spec.InitContainers {
			isSidecar := ptr.Deref(spec.InitContainers[i].RestartPolicy, "") == corev1.ContainerRestartPolicyAlways
			if isSidecar && !yield(&spec.InitContainers[i]) {
				return
			}
		}
	}
}

// Container returns the container of that name that can be resized in place, nil if there is none.
func Container(spec *corev1.PodSpec, name string) *corev1.Container {
	for container := range Containers(spec) {
		if container.Name == name {
			return container
		}
	}
	return nil
}

// Equal returns whether the containers that both have, by name, have the same CPU and memory.
func Equal(a, b *corev1.PodSpec) bool {
	for container := range Containers(b) {
		other := Container(a, container.Name)
		if other != nil && slices.ContainsFunc(resizable, func(name corev1.ResourceName) bool { return differ(name, other, container) }) {
			return false
		}
	}
	return true
}

// differ returns whether the containers have another request or another limit of the resource.
func differ(name corev1.ResourceName, a, b *corev1.Container) bool {
	return !isSame(name, a.Resources.Requests, b.Resources.Requests) || !isSame(name, a.Resources.Limits, b.Resources.Limits)
}

func isSame(name corev1.ResourceName, a, b corev1.ResourceList) bool {
	quantityA, isInA := a[name]
	quantityB, isInB := b[name]
	return isInA == isInB && quantityA.Cmp(quantityB) == 0
}

// EqualExceptResources returns whether two templates differ in nothing, or only in CPU and memory that pods can get in place.
func EqualExceptResources(a, b *corev1.PodTemplateSpec) bool {
	return apiequality.Semantic.DeepEqual(without(a), without(b))
}

func without(template *corev1.PodTemplateSpec) *corev1.PodTemplateSpec {
	copied := template.DeepCopy()
	for container := range Containers(&copied.Spec) {
		container.Resources = With(container.Resources, corev1.ResourceRequirements{})
	}
	return copied
}

// Copy gives the containers the CPU and the memory that the containers of the same names have.
func Copy(to, from *corev1.PodSpec) {
	for container := range Containers(to) {
		if other := Container(from, container.Name); other != nil {
			container.Resources = With(container.Resources, other.Resources)
		}
	}
}

// With returns the resources with the CPU and the memory of others, and without any that the others lack. It changes neither.
func With(resources, others corev1.ResourceRequirements) corev1.ResourceRequirements {
	resources.Requests = withList(resources.Requests, others.Requests)
	resources.Limits = withList(resources.Limits, others.Limits)
	return resources
}

func withList(list, others corev1.ResourceList) corev1.ResourceList {
	result := corev1.ResourceList{}
	maps.Copy(result, list)
	for _, name := range resizable {
		delete(result, name)
		if quantity, isSet := others[name]; isSet {
			result[name] = quantity
		}
	}
	if len(result) == 0 {
		return nil
	}
	return result
}
