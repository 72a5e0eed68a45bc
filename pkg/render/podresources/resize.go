// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package podresources

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

// Request gives the containers of a pod the CPU and the memory of a template, as a new pod of the template would have them: a limit is
// the request, too, if there is no request. It leaves what the template does not mention, such as the defaults of a LimitRange. It returns
// whether that changes the pod.
func Request(pod *corev1.Pod, template *corev1.PodTemplateSpec) bool {
	isChanged := false
	for container := range Containers(&pod.Spec) {
		wanted := Container(&template.Spec, container.Name)
		if wanted == nil {
			continue
		}
		for _, name := range resizable {
			limit, hasLimit := wanted.Resources.Limits[name]
			request, hasRequest := wanted.Resources.Requests[name]
			if hasLimit {
				isChanged = set(&container.Resources.Limits, name, limit) || isChanged
			}
			switch {
			case hasRequest:
				isChanged = set(&container.Resources.Requests, name, request) || isChanged
			case hasLimit:
				isChanged = set(&container.Resources.Requests, name, limit) || isChanged
			}
		}
	}
	return isChanged
}

// AreActual returns whether the running containers of the pod have the limits in its spec, as far as its status says. Requests are not
// compared: a kubelet reads them from the shares of a control group, which are rounded.
func AreActual(pod *corev1.Pod) bool {
	for _, statuses := range [][]corev1.ContainerStatus{pod.Status.ContainerStatuses, pod.Status.InitContainerStatuses} {
		for i := range statuses {
			status, container := &statuses[i], Container(&pod.Spec, statuses[i].Name)
			if container == nil || status.State.Running == nil || status.Resources == nil {
				continue
			}
			for _, name := range resizable {
				if !isSame(name, status.Resources.Limits, container.Resources.Limits) {
					return false
				}
			}
		}
	}
	return true
}

// Obstacle returns why a pod of one template cannot get the CPU and the memory of another one in place. It returns "" if nothing is known
// to be in the way.
func Obstacle(from, to *corev1.PodSpec) string {
	if before, after := qosOf(from), qosOf(to); before != after {
		return fmt.Sprintf("the QoS class of the pods would change from %s to %s", before, after)
	}
	for container := range Containers(to) {
		before := Container(from, container.Name)
		if before == nil {
			continue
		}
		for _, name := range resizable {
			_, hasLimit := container.Resources.Limits[name] // which is the request as well if there is none
			if !hasLimit && isLost(name, before.Resources.Requests, container.Resources.Requests) {
				return fmt.Sprintf("container %s would lose its request of %s", container.Name, name)
			}
			if isLost(name, before.Resources.Limits, container.Resources.Limits) {
				return fmt.Sprintf("container %s would lose its limit of %s", container.Name, name)
			}
		}
	}
	return ""
}

func isLost(name corev1.ResourceName, before, after corev1.ResourceList) bool {
	_, had := before[name]
	_, has := after[name]
	return had && !has
}

// Restarted returns the names of the containers that restart when a pod of one template gets the CPU and the memory of another one,
// because their resizePolicy says so.
func Restarted(from, to *corev1.PodSpec) []string {
	var names []string
	for container := range Containers(to) {
		before := Container(from, container.Name)
		if before != nil && slices.ContainsFunc(container.ResizePolicy, func(policy corev1.ContainerResizePolicy) bool {
			return policy.RestartPolicy == corev1.RestartContainer && differ(policy.ResourceName, before, container)
		}) {
			names = append(names, container.Name)
		}
	}
	return names
}

// qosOf returns the QoS class of pods, by the rules of Kubernetes: "Guaranteed" if every container has limits of CPU and memory and no
// other requests, "BestEffort" if no container has any of them.
func qosOf(spec *corev1.PodSpec) corev1.PodQOSClass {
	isGuaranteed, isBestEffort := true, true
	for _, container := range slices.Concat(spec.Containers, spec.InitContainers) {
		for _, name := range resizable {
			request, hasRequest := container.Resources.Requests[name]
			limit := container.Resources.Limits[name]
			isBestEffort = isBestEffort && request.IsZero() && limit.IsZero()
			isGuaranteed = isGuaranteed && !limit.IsZero() && (!hasRequest || request.Cmp(limit) == 0)
		}
	}
	switch {
	case isBestEffort:
		return corev1.PodQOSBestEffort
	case isGuaranteed:
		return corev1.PodQOSGuaranteed
	default:
		return corev1.PodQOSBurstable
	}
}

// set sets the resource in the list, and returns whether that changes it.
func set(list *corev1.ResourceList, name corev1.ResourceName, quantity resource.Quantity) bool {
	if current, isSet := (*list)[name]; isSet && current.Cmp(quantity) == 0 {
		return false
	}
	if *list == nil {
		*list = corev1.ResourceList{}
	}
	(*list)[name] = quantity
	return true
}
