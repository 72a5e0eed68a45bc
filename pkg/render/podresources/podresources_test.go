// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package podresources

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// list returns resources, such as "cpu=1 memory=1Gi", nil for none.
func list(resources string) corev1.ResourceList {
	if resources == "" {
		return nil
	}
	parsed := corev1.ResourceList{}
	for _, field := range strings.Fields(resources) {
		name, quantity, _ := strings.Cut(field, "=")
		parsed[corev1.ResourceName(name)] = resource.MustParse(quantity)
	}
	return parsed
}

func container(name, requests, limits string) corev1.Container {
	return corev1.Container{Name: name, Resources: corev1.ResourceRequirements{Requests: list(requests), Limits: list(limits)}}
}

func spec(containers ...corev1.Container) *corev1.PodSpec {
	return &corev1.PodSpec{Containers: containers}
}

func withInit(restartPolicy corev1.ContainerRestartPolicy, init corev1.Container) *corev1.PodSpec {
	if restartPolicy != "" {
		init.RestartPolicy = &restartPolicy
	}
	return &corev1.PodSpec{Containers: []corev1.Container{container("main", "cpu=1", "")}, InitContainers: []corev1.Container{init}}
}

func TestEqual(t *testing.T) {
	always := corev1.ContainerRestartPolicyAlways
	for _, row := range []struct {
		name string
		a, b *corev1.PodSpec
		// equal is the result of Equal, and onlyResources is the result of EqualExceptResources.
		equal, onlyResources bool
	}{
		{"the same in other words", spec(container("a", "cpu=1000m", "memory=1024Mi")), spec(container("a", "cpu=1", "memory=1Gi")), true, true},
		{"another request", spec(container("a", "cpu=1", "")), spec(container("a", "cpu=2", "")), false, true},
		{"another limit", spec(container("a", "", "memory=1Gi")), spec(container("a", "", "memory=2Gi")), false, true},
		{"a limit that is added", spec(container("a", "cpu=1", "")), spec(container("a", "cpu=1", "cpu=1")), false, true},
		{"a request that is removed", spec(container("a", "cpu=1", "")), spec(container("a", "", "")), false, true},
		{"another resource", spec(container("a", "", "ephemeral-storage=1Gi")), spec(container("a", "", "ephemeral-storage=2Gi")), true, false},
		{"another container", spec(container("a", "cpu=1", "")), spec(container("b", "cpu=2", "")), true, false},
		{"a sidecar", withInit(always, container("side", "cpu=1", "")), withInit(always, container("side", "cpu=2", "")), false, true},
		{"an init container", withInit("", container("init", "cpu=1", "")), withInit("", container("init", "cpu=2", "")), true, false},
	} {
		t.Run(row.name, func(t *testing.T) {
			if got := Equal(row.a, row.b); got != row.equal {
				t.Errorf("Equal returns %t", got)
			}
			if got := EqualExceptResources(&corev1.PodTemplateSpec{Spec: *row.a}, &corev1.PodTemplateSpec{Spec: *row.b}); got != row.onlyResources {
				t.Errorf("EqualExceptResources returns %t", got)
			}
		})
	}
}

func TestCopy(t *testing.T) {
	to := spec(container("a", "cpu=1 ephemeral-storage=1Gi", "memory=1Gi"), container("b", "cpu=1", ""))
	before := to.DeepCopy()
	shared := to.Containers[0].Resources.Requests
	Copy(to, spec(container("a", "memory=2Gi ephemeral-storage=5Gi", "")))
	want := spec(container("a", "memory=2Gi ephemeral-storage=1Gi", ""), container("b", "cpu=1", ""))
	if diff := cmp.Diff(want, to); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if diff := cmp.Diff(before.Containers[0].Resources.Requests, shared); diff != "" {
		t.Errorf("the former list has changed, -want +got:\n%s", diff)
	}
}

func TestRequest(t *testing.T) {
	for _, row := range []struct {
		name                string
		pod, template, want corev1.Container
		isUnchanged         bool
	}{
		{"requests and limits", container("a", "cpu=1", "memory=1Gi"), container("a", "cpu=2", "memory=2Gi"), container("a", "cpu=2 memory=2Gi", "memory=2Gi"), false},
		{"a limit that is the request, too", container("a", "memory=1Gi", "memory=1Gi"), container("a", "", "memory=2Gi"), container("a", "memory=2Gi", "memory=2Gi"), false},
		{"nothing", container("a", "cpu=1", "cpu=2"), container("a", "cpu=1000m", "cpu=2"), container("a", "cpu=1", "cpu=2"), true},
		{"the defaults of a LimitRange", container("a", "cpu=1 memory=1Gi", "memory=1Gi"), container("a", "cpu=2", ""), container("a", "cpu=2 memory=1Gi", "memory=1Gi"), false},
		{"another container", container("a", "cpu=1", ""), container("b", "cpu=2", ""), container("a", "cpu=1", ""), true},
	} {
		t.Run(row.name, func(t *testing.T) {
			pod := &corev1.Pod{Spec: *spec(row.pod)}
			if isChanged := Request(pod, &corev1.PodTemplateSpec{Spec: *spec(row.template)}); isChanged == row.isUnchanged {
				t.Errorf("the pod changed: %t", isChanged)
			}
			if diff := cmp.Diff(row.want, pod.Spec.Containers[0]); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

func TestObstacle(t *testing.T) {
	for _, row := range []struct {
		name     string
		from, to *corev1.PodSpec
		want     string
	}{
		{"more of all", spec(container("a", "cpu=1", "memory=1Gi")), spec(container("a", "cpu=2", "memory=2Gi")), ""},
		{"a limit that is added", spec(container("a", "cpu=1", "")), spec(container("a", "cpu=1", "memory=1Gi")), ""},
		{"Guaranteed", spec(container("a", "cpu=1 memory=1Gi", "cpu=1 memory=1Gi")), spec(container("a", "", "cpu=2 memory=1Gi")), ""},
		{"to Guaranteed", spec(container("a", "cpu=1", "memory=1Gi")), spec(container("a", "", "cpu=1 memory=1Gi")), "the QoS class of the pods would change from Burstable to Guaranteed"},
		{"Guaranteed no more", spec(container("a", "", "cpu=1 memory=1Gi")), spec(container("a", "cpu=500m", "cpu=1 memory=1Gi")), "the QoS class of the pods would change from Guaranteed to Burstable"},
		{"of two containers", spec(container("a", "", "cpu=1 memory=1Gi"), container("b", "", "")), spec(container("a", "", "cpu=2 memory=1Gi"), container("b", "", "")), ""},
		{"nothing any longer", spec(container("a", "cpu=1", "")), spec(container("a", "", "")), "the QoS class of the pods would change from Burstable to BestEffort"},
		{"a request that is removed", spec(container("a", "cpu=1 memory=1Gi", "")), spec(container("a", "cpu=1", "")), "container a would lose its request of memory"},
		{"a limit that is removed", spec(container("a", "cpu=1 memory=1Gi", "memory=2Gi")), spec(container("a", "cpu=1 memory=1Gi", "")), "container a would lose its limit of memory"},
	} {
		t.Run(row.name, func(t *testing.T) {
			if got := Obstacle(row.from, row.to); got != row.want {
				t.Errorf("got %q, want %q", got, row.want)
			}
		})
	}
}

func TestRestarted(t *testing.T) {
	withPolicy := func(c corev1.Container, resource corev1.ResourceName, policy corev1.ResourceResizeRestartPolicy) corev1.Container {
		c.ResizePolicy = []corev1.ContainerResizePolicy{{ResourceName: resource, RestartPolicy: policy}}
		return c
	}
	from := spec(container("a", "cpu=1", ""), container("b", "cpu=1", ""), container("c", "cpu=1", ""))
	to := spec(
		withPolicy(container("a", "cpu=2", ""), corev1.ResourceCPU, corev1.RestartContainer),
		withPolicy(container("b", "cpu=2", ""), corev1.ResourceMemory, corev1.RestartContainer),
		withPolicy(container("c", "cpu=2", ""), corev1.ResourceCPU, corev1.NotRequired),
	)
	if diff := cmp.Diff([]string{"a"}, Restarted(from, to)); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestAreActual(t *testing.T) {
	running := func(limits string) corev1.ContainerStatus {
		return corev1.ContainerStatus{Name: "a", State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{}},
			Resources: &corev1.ResourceRequirements{Limits: list(limits), Requests: list("cpu=3m")}}
	}
	waiting := corev1.ContainerStatus{Name: "a", Resources: &corev1.ResourceRequirements{Limits: list("memory=1Gi")}}
	for _, row := range []struct {
		name   string
		status []corev1.ContainerStatus
		want   bool
	}{
		{"the limit", []corev1.ContainerStatus{running("memory=2Gi")}, true},
		{"the former limit", []corev1.ContainerStatus{running("memory=1Gi")}, false},
		{"a container that does not run", []corev1.ContainerStatus{waiting}, true},
		{"no status", nil, true},
	} {
		t.Run(row.name, func(t *testing.T) {
			pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "web"}, Spec: *spec(container("a", "cpu=2m", "memory=2Gi")), Status: corev1.PodStatus{ContainerStatuses: row.status}}
			if got := AreActual(pod); got != row.want {
				t.Errorf("got %t, want %t", got, row.want)
			}
		})
	}
}
