// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"fmt"
	"reflect"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/e2e/framework"
)

// TestServiceOptionsAreSetAndUnset sets the options of a Service other than ports and type, and removes them again. The cluster
// then restores its defaults.
func TestServiceOptionsAreSetAndUnset(t *testing.T) {
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
			n := framework.NewNamespace(t)
			typed := func(spec *modelv1.ModelBoxSpec) { spec.ServiceType, spec.Service = row.serviceType, &row.without }
			n.CreateBox(framework.NewBox("web", framework.WithPorts(corev1.ServicePort{Port: 80}), typed))
			n.AwaitApplied("web")
			before := n.GetService("web").DeepCopy()

			n.UpdateBox("web", func(spec *modelv1.ModelBoxSpec) { spec.Service = &row.options })
			n.AwaitService("web", "has what the box says", func(service *corev1.Service) error { return hasOptions(service, &row.options) })
			n.AwaitApplied("web")
			n.Events.ExpectNoneRestored("web")

			n.UpdateBox("web", typed)
			n.AwaitService("web", "is as it was", func(service *corev1.Service) error {
				if diff := cmp.Diff(before.Spec, service.Spec); diff != "" {
					return fmt.Errorf("-before +now:\n%s", diff)
				}
				return nil
			})
			n.AwaitApplied("web")
			n.Events.ExpectNoneRestored("web")
		})
	}
}

// hasOptions returns an error for the options that the Service does not have.
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
			continue // the default of the cluster applies
		}
		if diff := cmp.Diff(fields.Field(i).Interface(), gotFields.Field(i).Interface()); diff != "" {
			return fmt.Errorf("%s (-want +got):\n%s", fields.Type().Field(i).Name, diff)
		}
	}
	return nil
}

// TestLabelsOfTheSpecReachEveryChild adds labels and annotations to all children, and removes them again.
func TestLabelsOfTheSpecReachEveryChild(t *testing.T) {
	t.Parallel()
	n := framework.NewNamespace(t)
	n.CreateReadyBox(framework.NewBox("web", framework.WithPorts(corev1.ServicePort{Port: 80})))
	n.UpdateBox("web", func(spec *modelv1.ModelBoxSpec) {
		spec.Labels, spec.Annotations = map[string]string{"team": "shop"}, map[string]string{"example.com/contact": "shop"}
	})
	n.AwaitReady("web")
	expectMeta(n, "shop")
	n.ExpectConverged("web")
	n.UpdateBox("web", func(spec *modelv1.ModelBoxSpec) { spec.Labels, spec.Annotations = nil, nil })
	n.AwaitReady("web")
	expectMeta(n, "")
	n.ExpectConverged("web")
}

// expectMeta checks the label and the annotation of TestLabelsOfTheSpecReachEveryChild, "" for none.
func expectMeta(n *framework.Namespace, want string) {
	n.T.Helper()
	deployment, service := n.GetDeployment("web"), n.GetService("web")
	pods, err := n.LivePods("web")
	if err != nil {
		n.T.Fatal(err)
	}
	for what, meta := range map[string]struct{ labels, annotations map[string]string }{
		"Deployment": {deployment.Labels, deployment.Annotations},
		"Service":    {service.Labels, service.Annotations},
		"pod":        {pods[0].Labels, pods[0].Annotations},
	} {
		framework.ExpectEqual(n.T, "label of the "+what, want, meta.labels["team"])
		framework.ExpectEqual(n.T, "annotation of the "+what, want, meta.annotations["example.com/contact"])
	}
}
