// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/e2e/framework"
)

// TestNamedTargetPortsResolveToContainerPorts checks that named targetPorts resolve to the numbers of the container ports with
// these names.
func TestNamedTargetPortsResolveToContainerPorts(t *testing.T) {
	t.Parallel()
	n := framework.NewNamespace(t)
	n.CreateReadyBox(framework.NewBox("web",
		framework.WithPorts(
			corev1.ServicePort{Name: "https", Port: 443, TargetPort: intstr.FromString("tls")},
			corev1.ServicePort{Name: "metrics", Port: 9090, TargetPort: intstr.FromString("figures")},
			corev1.ServicePort{Name: "http", Port: 80, TargetPort: intstr.FromInt32(8080)},
		),
		func(spec *modelv1.ModelBoxSpec) {
			spec.Containers = []corev1.Container{{
				Name: "proxy", Image: framework.Image, Ports: []corev1.ContainerPort{{Name: "tls", ContainerPort: 8443}},
			}}
		},
		framework.WithPodTemplate(corev1.PodSpec{Containers: []corev1.Container{{
			Name: "web", Ports: []corev1.ContainerPort{{Name: "figures", ContainerPort: 9100}},
		}}}),
	))

	targets := map[string]string{}
	for _, port := range n.GetService("web").Spec.Ports {
		targets[port.Name] = port.TargetPort.String()
	}
	framework.ExpectEqual(t, "targetPorts of the Service", map[string]string{"https": "tls", "metrics": "figures", "http": "8080"}, targets)
	n.Eventually("traffic is led to the containers' ports", func() error {
		numbers, err := endpointPorts(n, "web")
		if err != nil {
			return err
		}
		if diff := cmp.Diff(map[string]int32{"https": 8443, "metrics": 9100, "http": 8080}, numbers); diff != "" {
			return fmt.Errorf("-want +got:\n%s", diff)
		}
		return nil
	})
}

// endpointPorts returns the numbers of the ports in the EndpointSlices of a Service.
func endpointPorts(n *framework.Namespace, service string) (map[string]int32, error) {
	slices, err := n.ControlPlane.KubeClient.DiscoveryV1().EndpointSlices(n.Name).List(n.Ctx,
		metav1.ListOptions{LabelSelector: discoveryv1.LabelServiceName + "=" + service})
	if err != nil {
		return nil, err
	}
	numbers := map[string]int32{}
	for _, slice := range slices.Items {
		for _, port := range slice.Ports {
			numbers[*port.Name] = *port.Port
		}
	}
	return numbers, nil
}

// TestDefaultProbesAreOnlyOnPortsOfTheMainContainer checks that probes are only injected for TCP ports of the main container.
func TestDefaultProbesAreOnlyOnPortsOfTheMainContainer(t *testing.T) {
	t.Parallel()
	beside := func(port corev1.ContainerPort) func(*modelv1.ModelBoxSpec) {
		return func(spec *modelv1.ModelBoxSpec) {
			spec.Containers = []corev1.Container{{Name: "beside", Image: framework.Image, Ports: []corev1.ContainerPort{port}}}
		}
	}
	for _, test := range []struct {
		name string
		box  []func(*modelv1.ModelBoxSpec)
		want int32 // the port that is probed, 0 for none
	}{
		{"no port", []func(*modelv1.ModelBoxSpec){framework.WithPorts()}, 0},
		{"a UDP port", []func(*modelv1.ModelBoxSpec){framework.WithPorts(corev1.ServicePort{Port: 53, Protocol: corev1.ProtocolUDP})}, 0},
		{"an SCTP port", []func(*modelv1.ModelBoxSpec){framework.WithPorts(corev1.ServicePort{Port: 132, Protocol: corev1.ProtocolSCTP})}, 0},
		{"a UDP port before a TCP port", []func(*modelv1.ModelBoxSpec){framework.WithPorts(
			corev1.ServicePort{Name: "dns", Port: 53, Protocol: corev1.ProtocolUDP}, corev1.ServicePort{Name: "http", Port: 80},
		)}, 80},
		{"a port that another container serves", []func(*modelv1.ModelBoxSpec){
			framework.WithPorts(corev1.ServicePort{Port: 80, TargetPort: intstr.FromInt32(8443)}),
			beside(corev1.ContainerPort{ContainerPort: 8443}),
		}, 0},
		{"a port of another container, by name", []func(*modelv1.ModelBoxSpec){
			framework.WithPorts(corev1.ServicePort{Port: 443, TargetPort: intstr.FromString("tls")}),
			beside(corev1.ContainerPort{Name: "tls", ContainerPort: 8443}),
		}, 0},
		{"a port of its own that is reached through another one", []func(*modelv1.ModelBoxSpec){
			framework.WithPorts(corev1.ServicePort{Port: 80, TargetPort: intstr.FromInt32(8080)}),
		}, 8080},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			n := framework.NewNamespace(t)
			n.CreateReadyBox(framework.NewBox("web", test.box...))
			for _, container := range n.GetDeployment("web").Spec.Template.Spec.Containers {
				want := test.want
				if container.Name != "web" {
					want = 0
				}
				for kind, probe := range map[string]*corev1.Probe{
					"readiness": container.ReadinessProbe, "liveness": container.LivenessProbe, "startup": container.StartupProbe,
				} {
					var port int32
					if probe != nil {
						port = probe.TCPSocket.Port.IntVal
					}
					framework.ExpectEqual(t, kind+" probe of container "+container.Name, want, port)
				}
			}
		})
	}
}
