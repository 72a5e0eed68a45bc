// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package helper

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

func TestMainContainerPorts(t *testing.T) {
	port := func(name string, port int32, target intstr.IntOrString, protocol corev1.Protocol) corev1.ServicePort {
		return corev1.ServicePort{Name: name, Port: port, TargetPort: target, Protocol: protocol}
	}
	number, name := intstr.FromInt32, intstr.FromString
	declares := func(ports ...corev1.ContainerPort) []corev1.Container {
		return []corev1.Container{{Name: "side", Ports: ports}}
	}

	for _, row := range []struct {
		name   string
		ports  []corev1.ServicePort
		beside []corev1.Container
		want   []corev1.ContainerPort
	}{
		{"no ports", nil, nil, nil},
		{"the target is answered, by the port's name", []corev1.ServicePort{port("http", 80, number(8080), "TCP")}, nil,
			[]corev1.ContainerPort{{Name: "http", ContainerPort: 8080, Protocol: "TCP"}}},
		{"a port without a name", []corev1.ServicePort{port("", 80, number(80), "TCP")}, nil,
			[]corev1.ContainerPort{{ContainerPort: 80, Protocol: "TCP"}}},
		{"a name that is too long for a container port", []corev1.ServicePort{port("sixteen-letters-", 80, number(80), "TCP"), port("a-name-of-16-chr", 81, number(81), "TCP")}, nil,
			[]corev1.ContainerPort{{ContainerPort: 80, Protocol: "TCP"}, {ContainerPort: 81, Protocol: "TCP"}}},
		{"a name of digits is no name of a container port", []corev1.ServicePort{port("8080", 80, number(80), "TCP")}, nil,
			[]corev1.ContainerPort{{ContainerPort: 80, Protocol: "TCP"}}},
		{"in the order of the ports", []corev1.ServicePort{port("b", 81, number(81), "TCP"), port("a", 80, number(80), "TCP")}, nil,
			[]corev1.ContainerPort{{Name: "b", ContainerPort: 81, Protocol: "TCP"}, {Name: "a", ContainerPort: 80, Protocol: "TCP"}}},
		{"two ports with one target have it once, by the first name", []corev1.ServicePort{port("a", 80, number(8080), "TCP"), port("b", 81, number(8080), "TCP")}, nil,
			[]corev1.ContainerPort{{Name: "a", ContainerPort: 8080, Protocol: "TCP"}}},
		{"one number by two protocols is two ports", []corev1.ServicePort{port("a", 53, number(53), "UDP"), port("b", 53, number(53), "TCP")}, nil,
			[]corev1.ContainerPort{{Name: "a", ContainerPort: 53, Protocol: "UDP"}, {Name: "b", ContainerPort: 53, Protocol: "TCP"}}},
		{"a target that is a name is another container's", []corev1.ServicePort{port("a", 443, name("tls"), "TCP")},
			declares(corev1.ContainerPort{Name: "tls", ContainerPort: 8443, Protocol: "TCP"}), nil},
		{"a number that a container declares is that one's", []corev1.ServicePort{port("a", 80, number(80), "TCP"), port("b", 81, number(81), "TCP")},
			declares(corev1.ContainerPort{ContainerPort: 80, Protocol: "TCP"}),
			[]corev1.ContainerPort{{Name: "b", ContainerPort: 81, Protocol: "TCP"}}},
		{"a number that a container declares without a protocol is that one's by TCP", []corev1.ServicePort{port("a", 80, number(80), "TCP")},
			declares(corev1.ContainerPort{ContainerPort: 80}), nil},
		{"a number that a container declares for the other protocol is not", []corev1.ServicePort{port("a", 80, number(80), "TCP")},
			declares(corev1.ContainerPort{ContainerPort: 80, Protocol: "UDP"}),
			[]corev1.ContainerPort{{Name: "a", ContainerPort: 80, Protocol: "TCP"}}},
	} {
		t.Run(row.name, func(t *testing.T) {
			if diff := cmp.Diff(row.want, MainContainerPorts(row.ports, row.beside)); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

func TestContainersBeside(t *testing.T) {
	named := func(names ...string) []corev1.Container {
		var containers []corev1.Container
		for _, name := range names {
			containers = append(containers, corev1.Container{Name: name})
		}
		return containers
	}
	overlay := &corev1.PodTemplateSpec{Spec: corev1.PodSpec{Containers: named("web", "debug"), InitContainers: named("proxy")}}
	want := named("side", "prepare", "debug", "proxy")
	if diff := cmp.Diff(want, ContainersBeside("web", named("side"), named("prepare"), overlay)); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if diff := cmp.Diff(named("side"), ContainersBeside("web", named("side"), nil, nil)); diff != "" {
		t.Errorf("without an overlay, -want +got:\n%s", diff)
	}
}
