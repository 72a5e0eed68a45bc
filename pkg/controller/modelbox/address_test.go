// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package modelbox

import (
	"slices"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/fixture"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/modelbox/status"
)

func TestAddress(t *testing.T) {
	port := func(port int32, protocol corev1.Protocol, target intstr.IntOrString) corev1.ServicePort {
		return corev1.ServicePort{Port: port, Protocol: protocol, TargetPort: target}
	}
	tcp := func(number int32, target intstr.IntOrString) corev1.ServicePort {
		return port(number, corev1.ProtocolTCP, target)
	}
	number, name := intstr.FromInt32, intstr.FromString
	service := func(clusterIP string, ports ...corev1.ServicePort) *corev1.Service {
		return fixture.LiveService(t, func(s *corev1.Service) { s.Spec.ClusterIP, s.Spec.Ports = clusterIP, ports })
	}
	containers := func(containers ...corev1.Container) *appsv1.Deployment {
		return completeDeployment(func(d *appsv1.Deployment) { d.Spec.Template.Spec.Containers = containers })
	}
	declares := func(name string, number int32, protocol corev1.Protocol) corev1.Container {
		return corev1.Container{Ports: []corev1.ContainerPort{{Name: name, ContainerPort: number, Protocol: protocol}}}
	}
	initContainer := func(restartPolicy *corev1.ContainerRestartPolicy) *appsv1.Deployment {
		return completeDeployment(func(d *appsv1.Deployment) {
			container := declares("http", 8080, corev1.ProtocolTCP)
			container.RestartPolicy = restartPolicy
			d.Spec.Template.Spec.InitContainers = []corev1.Container{container}
		})
	}
	const none, ip = corev1.ClusterIPNone, "10.0.0.7"

	for _, row := range []struct {
		name       string
		box        []corev1.ServicePort
		service    *corev1.Service
		deployment *appsv1.Deployment
		want       string
	}{
		{"there is no Service", []corev1.ServicePort{tcp(80, number(80))}, nil, nil, ""},
		{"a Service has no ports", nil, service(ip), nil, ""},
		{"the box's only port", []corev1.ServicePort{tcp(80, number(8080))}, service(ip, tcp(80, number(8080))), nil, "web.default.svc:80"},
		{"a user put a port before it", []corev1.ServicePort{tcp(80, number(80))},
			service(ip, tcp(9090, number(9090)), tcp(80, number(80))), nil, "web.default.svc:80"},
		{"the box's ports are in another order", []corev1.ServicePort{tcp(80, number(80)), tcp(443, number(443))},
			service(ip, tcp(443, number(443)), tcp(80, number(80))), nil, "web.default.svc:80"},
		{"the number is taken with another protocol", []corev1.ServicePort{port(53, corev1.ProtocolUDP, number(5353)), tcp(53, number(5454))},
			service(none, tcp(53, number(5454)), port(53, corev1.ProtocolUDP, number(5353))), nil, "web.default.svc:5353"},
		{"a paused box has another port than its Service", []corev1.ServicePort{tcp(81, number(81))},
			service(ip, tcp(80, number(80))), nil, "web.default.svc:80"},
		{"a paused box without ports", nil, service(ip, tcp(80, number(80))), nil, "web.default.svc:80"},

		{"a headless box is reached where its pods listen", []corev1.ServicePort{tcp(80, number(8080))},
			service(none, tcp(80, number(8080))), nil, "web.default.svc:8080"},
		{"a headless Service without targetPort", []corev1.ServicePort{tcp(80, number(80))},
			service(none, tcp(80, intstr.IntOrString{})), nil, "web.default.svc:80"},
		{"a named port is a port of the container", []corev1.ServicePort{tcp(80, name("http"))},
			service(none, tcp(80, name("http"))), containers(declares("metrics", 9090, corev1.ProtocolTCP), declares("http", 8080, corev1.ProtocolTCP)), "web.default.svc:8080"},
		{"of two protocols the Service's counts", []corev1.ServicePort{tcp(80, name("http"))},
			service(none, tcp(80, name("http"))), containers(declares("http", 8443, corev1.ProtocolUDP), declares("http", 8080, corev1.ProtocolTCP)), "web.default.svc:8080"},
		{"a sidecar listens", []corev1.ServicePort{tcp(80, name("http"))},
			service(none, tcp(80, name("http"))), initContainer(ptr.To(corev1.ContainerRestartPolicyAlways)), "web.default.svc:8080"},
		{"an init container has gone when the pod is reached", []corev1.ServicePort{tcp(80, name("http"))},
			service(none, tcp(80, name("http"))), initContainer(nil), ""},
		{"no container has declared the name", []corev1.ServicePort{tcp(80, name("http"))},
			service(none, tcp(80, name("http"))), containers(declares("metrics", 9090, corev1.ProtocolTCP)), ""},
		{"the Deployment is not there yet", []corev1.ServicePort{tcp(80, name("http"))}, service(none, tcp(80, name("http"))), nil, ""},
		{"a name does not matter where there is a cluster IP", []corev1.ServicePort{tcp(80, name("http"))}, service(ip, tcp(80, name("http"))), nil, "web.default.svc:80"},
	} {
		t.Run(row.name, func(t *testing.T) {
			box := fixture.WebBox(t, func(box *modelv1.ModelBox) { box.Spec.Ports = slices.Clone(row.box) })
			status := status.Of(box, &status.Observation{Service: row.service, Workload: workloadOf(row.deployment)})
			if status.Address != row.want {
				t.Errorf("got %q, want %q", status.Address, row.want)
			}
		})
	}
}
