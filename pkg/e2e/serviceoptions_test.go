// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"fmt"
	"reflect"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
)

// TestServiceOptions sets what a Service has beyond ports and type, in a cluster that adds its own to it, and takes it
// out again: the cluster's defaults come back.
func TestServiceOptions(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name        string
		serviceType modelv1.ServiceType
		options     modelv1.ModelBoxService
		without     modelv1.ModelBoxService
	}{
		{"cluster-ip", modelv1.ServiceTypeClusterIP, modelv1.ModelBoxService{
			SessionAffinity: corev1.ServiceAffinityClientIP, InternalTrafficPolicy: ptr.To(corev1.ServiceInternalTrafficPolicyLocal),
			IPFamilies: []corev1.IPFamily{corev1.IPv4Protocol}, IPFamilyPolicy: ptr.To(corev1.IPFamilyPolicySingleStack),
			PublishNotReadyAddresses: true, TrafficDistribution: ptr.To(corev1.ServiceTrafficDistributionPreferClose),
		}, modelv1.ModelBoxService{}},
		{"node-port", modelv1.ServiceTypeNodePort, modelv1.ModelBoxService{
			SessionAffinity:       corev1.ServiceAffinityClientIP,
			SessionAffinityConfig: &corev1.SessionAffinityConfig{ClientIP: &corev1.ClientIPConfig{TimeoutSeconds: ptr.To[int32](600)}},
			ExternalTrafficPolicy: corev1.ServiceExternalTrafficPolicyLocal,
			Labels:                map[string]string{"exposed": "true"}, Annotations: map[string]string{"example.com/pool": "public"},
		}, modelv1.ModelBoxService{}},
		{"load-balancer", modelv1.ServiceTypeLoadBalancer, modelv1.ModelBoxService{
			ExternalTrafficPolicy: corev1.ServiceExternalTrafficPolicyLocal, LoadBalancerClass: ptr.To("example.com/none"),
			LoadBalancerSourceRanges: []string{"203.0.113.0/24"}, AllocateLoadBalancerNodePorts: ptr.To(false),
		}, modelv1.ModelBoxService{LoadBalancerClass: ptr.To("example.com/none")}},
		{"headless", modelv1.ServiceTypeHeadless, modelv1.ModelBoxService{PublishNotReadyAddresses: true}, modelv1.ModelBoxService{}},
	} {
		t.Run(row.name, func(t *testing.T) {
			n := newNamespace(t)
			typed := func(spec *modelv1.ModelBoxSpec) { spec.ServiceType, spec.Service = row.serviceType, &row.without }
			n.create(newBox("web", withPorts(corev1.ServicePort{Port: 80}), typed))
			n.awaitApplied("web")
			before := n.service("web").DeepCopy()

			n.change("web", func(spec *modelv1.ModelBoxSpec) { spec.Service = &row.options })
			n.awaitService("web", "has what the box says", func(service *corev1.Service) error { return hasOptions(service, &row.options) })
			n.awaitApplied("web")
			n.expectNothingRestored("web")

			n.change("web", typed)
			n.awaitService("web", "is as it was", func(service *corev1.Service) error {
				if diff := cmp.Diff(before.Spec, service.Spec); diff != "" {
					return fmt.Errorf("-before +now:\n%s", diff)
				}
				return nil
			})
			n.awaitApplied("web")
			n.expectNothingRestored("web")
		})
	}
}

// hasOptions returns what the Service lacks of the options.
func hasOptions(service *corev1.Service, want *modelv1.ModelBoxService) error {
	got := modelv1.ModelBoxService{
		SessionAffinity: service.Spec.SessionAffinity, SessionAffinityConfig: service.Spec.SessionAffinityConfig,
		ExternalTrafficPolicy: service.Spec.ExternalTrafficPolicy, InternalTrafficPolicy: service.Spec.InternalTrafficPolicy,
		LoadBalancerClass: service.Spec.LoadBalancerClass, LoadBalancerSourceRanges: service.Spec.LoadBalancerSourceRanges,
		AllocateLoadBalancerNodePorts: service.Spec.AllocateLoadBalancerNodePorts, IPFamilies: service.Spec.IPFamilies,
		IPFamilyPolicy: service.Spec.IPFamilyPolicy, PublishNotReadyAddresses: service.Spec.PublishNotReadyAddresses,
		TrafficDistribution: service.Spec.TrafficDistribution, HealthCheckNodePort: service.Spec.HealthCheckNodePort,
		Labels: map[string]string{}, Annotations: map[string]string{},
	}
	for key := range want.Labels {
		got.Labels[key] = service.Labels[key]
	}
	for key := range want.Annotations {
		got.Annotations[key] = service.Annotations[key]
	}
	fields, gotFields := reflect.ValueOf(want).Elem(), reflect.ValueOf(&got).Elem()
	for i := range fields.NumField() {
		if fields.Field(i).IsZero() {
			continue // which leaves it to the cluster
		}
		if diff := cmp.Diff(fields.Field(i).Interface(), gotFields.Field(i).Interface()); diff != "" {
			return fmt.Errorf("%s (-want +got):\n%s", fields.Type().Field(i).Name, diff)
		}
	}
	return nil
}

// TestChildLabels gives labels and annotations to everything, and takes them away again.
func TestChildLabels(t *testing.T) {
	t.Parallel()
	n := newNamespace(t)
	n.createReady(newBox("web", withPorts(corev1.ServicePort{Port: 80})))
	n.change("web", func(spec *modelv1.ModelBoxSpec) {
		spec.Labels, spec.Annotations = map[string]string{"team": "shop"}, map[string]string{"example.com/contact": "shop"}
	})
	n.awaitReady("web")
	n.expectMeta("shop")
	n.expectConverged("web")
	n.change("web", func(spec *modelv1.ModelBoxSpec) { spec.Labels, spec.Annotations = nil, nil })
	n.awaitReady("web")
	n.expectMeta("")
	n.expectConverged("web")
}

// expectMeta checks the label and the annotation of TestChildLabels, "" for none.
func (n *namespace) expectMeta(want string) {
	n.t.Helper()
	deployment, service := n.deployment("web"), n.service("web")
	pods, err := n.podsOf("web")
	if err != nil {
		n.t.Fatal(err)
	}
	for what, meta := range map[string]struct{ labels, annotations map[string]string }{
		"Deployment": {deployment.Labels, deployment.Annotations},
		"Service":    {service.Labels, service.Annotations},
		"pod":        {pods[0].Labels, pods[0].Annotations},
	} {
		expectEqual(n.t, "label of the "+what, want, meta.labels["team"])
		expectEqual(n.t, "annotation of the "+what, want, meta.annotations["example.com/contact"])
	}
}
