// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package validation

import (
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/validate"
)

const podResourceRule = "must be cpu, memory or hugepages-<size>: a pod as a whole has no others"

// validatePodResources validates the resources that the containers of a pod share, and then that theirs fit in.
func validatePodResources(spec *corev1.PodSpec, specPath *field.Path) field.ErrorList {
	path := specPath.Child("resources")
	shared := spec.Resources
	if shared == nil {
		return nil
	}
	errs := slices.Concat(
		validatePodResourceNames(shared.Limits, path.Child("limits")),
		validatePodResourceNames(shared.Requests, path.Child("requests")),
		validateRequestsWithinLimits(shared, path),
		validateHugePagesNeedCPUOrMemory(shared, path),
	)
	if len(shared.Claims) > 0 {
		errs = append(errs, field.Forbidden(path.Child("claims"), "may only be given to containers: the claims of a pod are its resourceClaims"))
	}
	if len(errs) > 0 {
		return errs
	}
	return slices.Concat(
		validateSharedRequests(spec, path),
		validateSharedHugePages(spec, path.Child("limits")),
		validateContainerLimits(spec, specPath.Child("containers")),
	)
}

func validatePodResourceNames(list corev1.ResourceList, path *field.Path) field.ErrorList {
	errs := validateResourceList(list, path)
	for _, name := range validate.Each(slices.Sorted(maps.Keys(list)), &errs) {
		if isContainerResourceName(name) && name != corev1.ResourceCPU && name != corev1.ResourceMemory && !isHugePageResourceName(name) {
			errs = append(errs, field.Invalid(path.Key(string(name)), string(name), podResourceRule))
		}
	}
	return errs
}

// validateSharedRequests requires that the requests of the containers fit into the requests of the pod. A pod without a request
// gets the requests of its containers, which must then fit into its limit. Huge pages have rules for their limits only.
func validateSharedRequests(spec *corev1.PodSpec, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	total := sumOfContainers(spec, requestsOf)
	for _, name := range validate.Each(slices.Sorted(maps.Keys(total)), &errs) {
		sharedPath := path.Child("requests")
		shared, given := spec.Resources.Requests[name]
		if !given {
			sharedPath = path.Child("limits")
			shared, given = spec.Resources.Limits[name]
		}
		if given && !isHugePageResourceName(name) {
			errs = append(errs, validateFits(total[name], shared, "requests", sharedPath.Key(string(name)))...)
		}
	}
	return errs
}

// validateSharedHugePages requires that the huge pages of the containers fit into the huge pages of the pod. For other resources,
// the limits of the containers together may exceed the limit of the pod.
func validateSharedHugePages(spec *corev1.PodSpec, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	total := sumOfContainers(spec, limitsOf)
	for _, name := range validate.Each(slices.Sorted(maps.Keys(total)), &errs) {
		if shared, given := spec.Resources.Limits[name]; given && isHugePageResourceName(name) {
			errs = append(errs, validateFits(total[name], shared, "limits", path.Key(string(name)))...)
		}
	}
	return errs
}

func validateFits(total, shared resource.Quantity, what string, path *field.Path) field.ErrorList {
	if shared.RoundUp(resource.Milli); total.Cmp(shared) <= 0 {
		return nil
	}
	detail := fmt.Sprintf("must be greater than or equal to aggregate container %s of %s", what, total.String())
	return field.ErrorList{field.Invalid(path, shared.String(), detail)}
}

// validateContainerLimits requires that no container may use more than its pod.
func validateContainerLimits(spec *corev1.PodSpec, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	for i := range validate.Each(spec.Containers, &errs) {
		limits, limitsPath := spec.Containers[i].Resources.Limits, path.Index(i).Child("resources", "limits")
		for _, name := range validate.Each(slices.Sorted(maps.Keys(limits)), &errs) {
			limit := limits[name]
			if shared, given := spec.Resources.Limits[name]; given && limit.Cmp(shared) > 0 {
				errs = append(errs, field.Invalid(limitsPath.Key(string(name)), limit.String(), "must be less than or equal to pod limits of "+shared.String()))
			}
		}
	}
	return errs
}

func limitsOf(container *corev1.Container) corev1.ResourceList {
	return container.Resources.Limits
}

// requestsOf returns the requests of a container. A limit is the request as well, if the container has no request for the resource.
func requestsOf(container *corev1.Container) corev1.ResourceList {
	requests := maps.Clone(container.Resources.Limits)
	if requests == nil {
		return container.Resources.Requests
	}
	maps.Copy(requests, container.Resources.Requests)
	return requests
}

// sumOfContainers is what a pod needs at any one time: all its containers and sidecars, or one of the init containers
// that run to their end and the sidecars before it.
func sumOfContainers(spec *corev1.PodSpec, of func(*corev1.Container) corev1.ResourceList) corev1.ResourceList {
	total, sidecars, most := corev1.ResourceList{}, corev1.ResourceList{}, corev1.ResourceList{}
	for i := range spec.Containers {
		addResources(total, of(&spec.Containers[i]))
	}
	for i := range spec.InitContainers {
		container := &spec.InitContainers[i]
		if IsRestartableInitContainer(container) {
			addResources(total, of(container))
			addResources(sidecars, of(container))
			continue
		}
		during := sidecars.DeepCopy()
		addResources(during, of(container))
		raiseResources(most, during)
	}
	raiseResources(total, most)
	return total
}

// addResources adds quantities as the cluster stores them: rounded up to thousandths.
func addResources(list, more corev1.ResourceList) {
	for name, quantity := range more {
		sum := quantity.DeepCopy()
		sum.RoundUp(resource.Milli)
		sum.Add(list[name])
		list[name] = sum
	}
}

func raiseResources(list, least corev1.ResourceList) {
	for name, quantity := range least {
		if current, given := list[name]; !given || current.Cmp(quantity) < 0 {
			list[name] = quantity
		}
	}
}
