// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package convert

import (
	"reflect"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
)

func TestSetPortsKeepsWhatAServiceIs(t *testing.T) {
	port := []corev1.ServicePort{{Port: 80, Protocol: corev1.ProtocolTCP}}
	nodePort := []corev1.ServicePort{{Port: 80, NodePort: 30080, Protocol: corev1.ProtocolTCP}}
	for _, row := range []struct {
		name    string
		service corev1.ServiceSpec
		want    modelv1.ModelBoxSpec
	}{
		{
			"what the cluster sets is left to it",
			corev1.ServiceSpec{
				Type: corev1.ServiceTypeClusterIP, ClusterIP: "10.0.0.1", Ports: port, SessionAffinity: corev1.ServiceAffinityNone,
				InternalTrafficPolicy: ptr.To(corev1.ServiceInternalTrafficPolicyCluster),
				IPFamilies:            []corev1.IPFamily{corev1.IPv4Protocol}, IPFamilyPolicy: ptr.To(corev1.IPFamilyPolicySingleStack),
			},
			modelv1.ModelBoxSpec{Ports: port},
		},
		{
			"a node port makes the type",
			corev1.ServiceSpec{Type: corev1.ServiceTypeNodePort, Ports: nodePort, ExternalTrafficPolicy: corev1.ServiceExternalTrafficPolicyCluster},
			modelv1.ModelBoxSpec{Ports: nodePort},
		},
		{
			"a load balancer",
			corev1.ServiceSpec{
				Type: corev1.ServiceTypeLoadBalancer, Ports: nodePort, ExternalTrafficPolicy: corev1.ServiceExternalTrafficPolicyLocal,
				HealthCheckNodePort: 30100, LoadBalancerSourceRanges: []string{"203.0.113.0/24"}, AllocateLoadBalancerNodePorts: ptr.To(true),
			},
			modelv1.ModelBoxSpec{Ports: nodePort, ServiceType: modelv1.ServiceTypeLoadBalancer, Service: &modelv1.ModelBoxService{
				ExternalTrafficPolicy: corev1.ServiceExternalTrafficPolicyLocal, HealthCheckNodePort: 30100,
				LoadBalancerSourceRanges: []string{"203.0.113.0/24"},
			}},
		},
		{
			"none of its own address",
			corev1.ServiceSpec{Type: corev1.ServiceTypeClusterIP, ClusterIP: corev1.ClusterIPNone, Ports: port, PublishNotReadyAddresses: true},
			modelv1.ModelBoxSpec{Ports: port, ServiceType: modelv1.ServiceTypeHeadless, Service: &modelv1.ModelBoxService{PublishNotReadyAddresses: true}},
		},
	} {
		t.Run(row.name, func(t *testing.T) {
			spec := modelv1.ModelBoxSpec{}
			setPorts(&spec, &row.service)
			if diff := cmp.Diff(row.want, spec); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

// A later field of Services must be a field of boxes, or be reported.
func TestEveryFieldOfAServiceIsKnown(t *testing.T) {
	known := map[string]string{
		"ClusterIPs": "stays", "Selector": "becomes the selector of the box", "ClusterIP": "", "Ports": "", "Type": "", "ExternalName": "", "ExternalIPs": "",
		"LoadBalancerIP": "",
	}
	service, box := reflect.TypeFor[corev1.ServiceSpec](), reflect.TypeFor[modelv1.ModelBoxService]()
	for i := range service.NumField() {
		name := service.Field(i).Name
		_, isKnown := known[name]
		if _, isOption := box.FieldByName(name); !isKnown && !isOption {
			t.Errorf("nothing becomes of spec.%s", name)
		}
	}
}

func TestInexpressibleFieldsAreNamed(t *testing.T) {
	for want, spec := range map[string]corev1.ServiceSpec{
		"spec.externalName":   {ExternalName: "example.com"},
		"spec.externalIPs":    {ExternalIPs: []string{"203.0.113.1"}},
		"spec.loadBalancerIP": {LoadBalancerIP: "203.0.113.1"},
	} {
		if diff := cmp.Diff([]string{want}, inexpressible(&spec)); diff != "" {
			t.Errorf("-want +got:\n%s", diff)
		}
	}
	if got := inexpressible(&corev1.ServiceSpec{ClusterIP: "10.0.0.1"}); len(got) > 0 {
		t.Errorf("got %v", got)
	}
}
