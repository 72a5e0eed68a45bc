// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package validation

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"
)

func TestPodResources(t *testing.T) {
	shared := func(requests, limits quantities) func(*corev1.PodTemplateSpec) {
		return pod(func(spec *corev1.PodSpec) {
			spec.Resources = &corev1.ResourceRequirements{Requests: requests.list(), Limits: limits.list()}
		})
	}
	own := func(requests, limits quantities) func(*corev1.Container) {
		return func(c *corev1.Container) {
			c.Resources = corev1.ResourceRequirements{Requests: requests.list(), Limits: limits.list()}
		}
	}
	one := own(quantities{"cpu": "1"}, nil)
	side := func(c *corev1.Container) {
		one(c)
		c.RestartPolicy = ptr.To(corev1.ContainerRestartPolicyAlways)
	}
	const requestsCPU, limitsCPU = "Invalid value: spec.resources.requests[cpu]", "Invalid value: spec.resources.limits[cpu]"
	check(t, []row{
		{"resources of a pod are accepted", shared(quantities{"cpu": "1"}, quantities{"cpu": "2", "memory": "1Gi", "hugepages-2Mi": "2Mi"}), nil},
		{"no resources of a pod are accepted", shared(nil, nil), nil},
		{"storage is none of a pod", shared(quantities{"ephemeral-storage": "1Gi"}, nil), []string{"Invalid value: spec.resources.requests[ephemeral-storage]"}},
		{"an extended resource is none of a pod", shared(nil, quantities{"example.com/gpu": "1"}), []string{"Invalid value: spec.resources.limits[example.com/gpu]"}},
		{"a resource is known", shared(nil, quantities{"gpu": "1"}), []string{"Invalid value: spec.resources.limits[gpu]"}},
		{"requests are at most limits", shared(quantities{"cpu": "2"}, quantities{"cpu": "1"}), []string{requestsCPU}},
		{"huge pages come with cpu or memory", shared(nil, quantities{"hugepages-2Mi": "2Mi"}), []string{"Forbidden: spec.resources"}},
		{"claims are none of a pod's resources", pod(func(spec *corev1.PodSpec) {
			spec.Resources = &corev1.ResourceRequirements{Claims: []corev1.ResourceClaim{{Name: "gpu"}}}
		}), []string{"Forbidden: spec.resources.claims"}},

		{"the requests of the containers fit", all(shared(quantities{"cpu": "2"}, nil), podContainer(one), beside(one)), nil},
		{"the requests of the containers do not exceed the pod's", all(shared(quantities{"cpu": "1500m"}, nil), podContainer(one), beside(one)), []string{requestsCPU}},
		{"a limit is a request too", all(shared(quantities{"cpu": "1"}, nil), podContainer(own(nil, quantities{"cpu": "2"}))), []string{requestsCPU}},
		{"a limit beside a request is none", all(shared(quantities{"cpu": "1"}, nil), podContainer(own(quantities{"cpu": "1"}, quantities{"cpu": "2"}))), nil},
		{"the requests of the containers are the pod's, within its limit", all(shared(nil, quantities{"cpu": "1500m"}), podContainer(one), beside(one)), []string{limitsCPU}},
		{"tiny requests are rounded up", all(shared(quantities{"cpu": "1m"}, nil), podContainer(own(quantities{"cpu": "100u"}, nil)), beside(own(quantities{"cpu": "100u"}, nil))), []string{requestsCPU}},
		{"an init container ends before the containers start", all(shared(quantities{"cpu": "1"}, nil), podContainer(one), before(one)), nil},
		{"an init container does not exceed the pod's requests", all(shared(quantities{"cpu": "1"}, nil), before(own(quantities{"cpu": "2"}, nil))), []string{requestsCPU}},
		{"a sidecar runs with the containers", all(shared(quantities{"cpu": "1"}, nil), podContainer(one), before(side)), []string{requestsCPU}},
		{"a sidecar runs with the init containers after it", all(shared(quantities{"cpu": "1"}, nil), before(side), before(func(c *corev1.Container) { one(c); c.Name = "after" })), []string{requestsCPU}},
		{"a sidecar does not run with the init containers before it", all(shared(quantities{"cpu": "1"}, nil), before(one), before(func(c *corev1.Container) { side(c); c.Name = "after" })), nil},

		{"the limits of the containers may exceed the pod's together", all(shared(quantities{"cpu": "1"}, quantities{"cpu": "1"}),
			podContainer(own(quantities{"cpu": "0"}, quantities{"cpu": "1"})), beside(own(quantities{"cpu": "0"}, quantities{"cpu": "1"}))), nil},
		{"the limit of a container does not exceed the pod's", all(shared(quantities{"cpu": "1"}, quantities{"cpu": "1"}), podContainer(own(quantities{"cpu": "0"}, quantities{"cpu": "2"}))),
			[]string{"Invalid value: spec.containers[0].resources.limits[cpu]"}},
		{"the huge pages of the containers do not exceed the pod's together", all(shared(nil, quantities{"cpu": "1", "hugepages-2Mi": "2Mi"}),
			podContainer(own(quantities{"cpu": "0"}, quantities{"hugepages-2Mi": "2Mi"})), beside(own(quantities{"cpu": "0"}, quantities{"hugepages-2Mi": "2Mi"}))),
			[]string{"Invalid value: spec.resources.limits[hugepages-2Mi]"}},
	})
}

func TestResourceClaims(t *testing.T) {
	claims := func(claims ...corev1.PodResourceClaim) func(*corev1.PodTemplateSpec) {
		return pod(func(spec *corev1.PodSpec) { spec.ResourceClaims = claims })
	}
	references := func(references ...corev1.ResourceClaim) func(*corev1.PodTemplateSpec) {
		return podContainer(func(c *corev1.Container) { c.Resources.Claims = references })
	}
	gpu := corev1.PodResourceClaim{Name: "gpu", ResourceClaimTemplateName: ptr.To("gpu")}
	const path, reference = "spec.resourceClaims[0]", "spec.containers[0].resources.claims"
	check(t, []row{
		{"claims are accepted", claims(gpu, corev1.PodResourceClaim{Name: "disk", ResourceClaimName: ptr.To("team.disk")}), nil},
		{"a claim has a name", claims(corev1.PodResourceClaim{ResourceClaimName: ptr.To("a")}), []string{"Required value: " + path + ".name"}},
		{"a claim's name is a DNS label", claims(corev1.PodResourceClaim{Name: "a.b", ResourceClaimName: ptr.To("a")}), []string{"Invalid value: " + path + ".name"}},
		{"a claim is listed once", claims(gpu, gpu), []string{"Duplicate value: spec.resourceClaims[1].name"}},
		{"a claim has a source", claims(corev1.PodResourceClaim{Name: "a"}), []string{"Required value: " + path}},
		{"a claim has one source", claims(corev1.PodResourceClaim{Name: "a", ResourceClaimName: ptr.To("a"), ResourceClaimTemplateName: ptr.To("a")}),
			[]string{"Forbidden: " + path + ".resourceClaimTemplateName"}},
		{"a source is not empty", claims(corev1.PodResourceClaim{Name: "a", ResourceClaimName: ptr.To("")}), []string{"Required value: " + path + ".resourceClaimName"}},
		{"a source's name is a DNS name", claims(corev1.PodResourceClaim{Name: "a", ResourceClaimTemplateName: ptr.To("A")}), []string{"Invalid value: " + path + ".resourceClaimTemplateName"}},

		{"a container's claim is accepted", all(claims(gpu), references(corev1.ResourceClaim{Name: "gpu", Request: "one"})), nil},
		{"a container's claim needs claims", references(corev1.ResourceClaim{Name: "gpu"}), []string{"Forbidden: " + reference}},
		{"a container's claim is one of the pod's", all(claims(gpu), references(corev1.ResourceClaim{Name: "disk"})), []string{"Not found: " + reference + "[0].name"}},
		{"a container's claim is listed once", all(claims(gpu), references(corev1.ResourceClaim{Name: "gpu", Request: "one"}, corev1.ResourceClaim{Name: "gpu", Request: "two"})),
			[]string{"Duplicate value: " + reference + "[1].name"}},
		{"a container's request is a DNS label", all(claims(gpu), references(corev1.ResourceClaim{Name: "gpu", Request: "A"})), []string{"Invalid value: " + reference + "[0].request"}},
	})
}
