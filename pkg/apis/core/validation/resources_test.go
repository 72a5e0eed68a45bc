// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package validation

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

type quantities map[corev1.ResourceName]string

func (q quantities) list() corev1.ResourceList {
	list := corev1.ResourceList{}
	for name, quantity := range q {
		list[name] = resource.MustParse(quantity)
	}
	return list
}

func resources(requests, limits quantities) func(*corev1.PodTemplateSpec) {
	return func(template *corev1.PodTemplateSpec) {
		template.Spec.Containers[0].Resources = corev1.ResourceRequirements{Requests: requests.list(), Limits: limits.list()}
	}
}

func TestResources(t *testing.T) {
	check(t, []row{

		{"requests below limits are accepted", resources(quantities{"cpu": "100m", "memory": "64Mi"}, quantities{"cpu": "1", "memory": "64Mi", "ephemeral-storage": "1Gi"}), nil},
		{"requests without limits are accepted", resources(quantities{"cpu": "1"}, nil), nil},
		{"a request of nothing is accepted", resources(quantities{"cpu": "0"}, quantities{"cpu": "0"}), nil},
		{"requests are at most limits", resources(quantities{"cpu": "2"}, quantities{"cpu": "1"}), []string{"Invalid value: spec.containers[0].resources.requests[cpu]"}},
		{"quantities are not negative", resources(quantities{"cpu": "-1"}, quantities{"memory": "-1"}),
			[]string{"Invalid value: spec.containers[0].resources.limits[memory]", "Invalid value: spec.containers[0].resources.requests[cpu]"}},
		{"a resource name is known or has a domain", resources(nil, quantities{"gpu": "1"}), []string{"Invalid value: spec.containers[0].resources.limits[gpu]"}},
		{"a resource of a claim is none of a container", resources(quantities{"storage": "1Gi"}, nil), []string{"Invalid value: spec.containers[0].resources.requests[storage]"}},
		{"a resource of a quota is none of a container", resources(nil, quantities{"requests.cpu": "1"}), []string{"Invalid value: spec.containers[0].resources.limits[requests.cpu]"}},
		{"a resource name is a qualified name", resources(nil, quantities{"a b": "1"}), []string{"Invalid value: spec.containers[0].resources.limits[a b]"}},
		{"a resource of kubernetes.io is accepted", resources(quantities{"kubernetes.io/batch": "500m"}, nil), nil},
		{"resource claims need a pod that has some", func(template *corev1.PodTemplateSpec) {
			template.Spec.Containers[0].Resources = corev1.ResourceRequirements{Claims: []corev1.ResourceClaim{{Name: "gpu"}}}
		}, []string{"Forbidden: spec.containers[0].resources.claims"}},

		{"a container's resources are validated", container(func(c *corev1.Container) { c.Resources.Limits = quantities{"cpu": "-1"}.list() }),
			[]string{"Invalid value: spec.containers[1].resources.limits[cpu]"}},
		{"an init container's resources are validated", before(func(c *corev1.Container) { c.Resources.Limits = quantities{"cpu": "-1"}.list() }),
			[]string{"Invalid value: spec.initContainers[0].resources.limits[cpu]"}},
	})
}

func TestExtendedResourcesAndHugePages(t *testing.T) {
	check(t, []row{
		{"a limit of an extended resource is accepted", resources(nil, quantities{"example.com/gpu": "2"}), nil},
		{"a request of an extended resource equals its limit", resources(quantities{"example.com/gpu": "1"}, quantities{"example.com/gpu": "2"}),
			[]string{"Invalid value: spec.containers[0].resources.requests[example.com/gpu]"}},
		{"a request of an extended resource needs a limit", resources(quantities{"example.com/gpu": "1"}, nil),
			[]string{"Required value: spec.containers[0].resources.limits[example.com/gpu]"}},
		{"an extended resource is whole", resources(nil, quantities{"example.com/gpu": "500m"}), []string{"Invalid value: spec.containers[0].resources.limits[example.com/gpu]"}},
		{"an extended resource is not in requests.", resources(nil, quantities{"requests.example.com/gpu": "1"}),
			[]string{"Invalid value: spec.containers[0].resources.limits[requests.example.com/gpu]"}},

		{"huge pages beside memory are accepted", resources(nil, quantities{"hugepages-2Mi": "4Mi", "memory": "64Mi"}), nil},
		{"huge pages of two sizes are accepted", resources(nil, quantities{"hugepages-2Mi": "4Mi", "hugepages-1Gi": "1Gi", "cpu": "1"}), nil},
		{"huge pages alone are refused", resources(nil, quantities{"hugepages-2Mi": "4Mi"}), []string{"Forbidden: spec.containers[0].resources"}},
		{"huge pages come in whole pages", resources(nil, quantities{"hugepages-2Mi": "3Mi", "cpu": "1"}), []string{"Invalid value: spec.containers[0].resources.limits[hugepages-2Mi]"}},
		{"huge pages have a size", resources(nil, quantities{"hugepages-big": "4Mi", "cpu": "1"}), []string{"Invalid value: spec.containers[0].resources.limits[hugepages-big]"}},
		{"a request of huge pages equals its limit", resources(quantities{"hugepages-2Mi": "2Mi", "cpu": "1"}, quantities{"hugepages-2Mi": "4Mi"}),
			[]string{"Invalid value: spec.containers[0].resources.requests[hugepages-2Mi]"}},
		{"a request of huge pages needs a limit", resources(quantities{"hugepages-2Mi": "2Mi", "cpu": "1"}, nil),
			[]string{"Required value: spec.containers[0].resources.limits[hugepages-2Mi]"}},
	})
}
