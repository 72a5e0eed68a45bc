// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	metricsv1beta1 "k8s.io/metrics/pkg/apis/metrics/v1beta1"
)

func TestTop(t *testing.T) {
	const metrics = "GET /apis/metrics.k8s.io/v1beta1/namespaces/default/pods"
	measured := &metricsv1beta1.PodMetricsList{TypeMeta: metav1.TypeMeta{APIVersion: "metrics.k8s.io/v1beta1", Kind: "PodMetricsList"}, Items: []metricsv1beta1.PodMetrics{{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "shop-db-0"},
		Containers: []metricsv1beta1.ContainerMetrics{{Name: "web", Usage: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("250m"), corev1.ResourceMemory: resource.MustParse("64Mi")}}},
	}}}
	answers := map[string]runtime.Object{metrics: measured}
	objects := withComponents("shop")
	for at, pod := range stored(newPod("shop-db-0", "shop-db")) {
		objects[at] = pod
	}
	runAll(t, []commandTest{
		{
			name: "all boxes and stacks of the namespace, each box once", arguments: []string{"top", "--no-headers"},
			output: []string{
				"mail       0     <unknown>   <none>   <unknown>   <none>", "shop-db    1     250m        <none>   64Mi        <none>",
				"shop-web   0     <unknown>   <none>   <unknown>   <none>", "web        0     <unknown>   <none>   <unknown>   <none>",
			},
		},
		{
			name: "the components of a stack", arguments: []string{"top", "mst/shop", "--sort-by=cpu", "--no-headers"},
			output: []string{"shop-db    1     250m        <none>   64Mi        <none>", "shop-web   0     <unknown>   <none>   <unknown>   <none>"},
		},
		{
			name: "without the right to read metrics", arguments: []string{"top", "web"}, fails: "is forbidden",
			answers: map[string]runtime.Object{metrics: forbidden("pods")},
		},
		{
			name: "without the right to list pods", arguments: []string{"top", "web"}, fails: "is forbidden",
			answers: map[string]runtime.Object{"GET pods": forbidden("pods")},
		},
		{name: "a box that is not found", arguments: []string{"top", "nope"}, fails: `"nope" not found`},
		{name: "by something else", arguments: []string{"top", "--sort-by=pods"}, fails: "--sort-by accepts"},
	}, objects, answers)
	runAll(t, []commandTest{{name: "a cluster without metrics", arguments: []string{"top", "web"}, fails: "metrics API not available"}}, objects, nil)
	runAll(t, []commandTest{{name: "nothing", arguments: []string{"top"}, says: []string{"No resources found in default namespace"}}}, nil, answers)
}
