// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package validation

import (
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"
)

func TestValidateService(t *testing.T) {
	annotation := func(key, value string) func(*corev1.Service) {
		return func(s *corev1.Service) { metav1.SetMetaDataAnnotation(&s.ObjectMeta, key, value) }
	}
	port := func(change func(*corev1.ServicePort)) func(*corev1.Service) {
		return func(s *corev1.Service) { change(&s.Spec.Ports[0]) }
	}
	serviceType := func(serviceType corev1.ServiceType) func(*corev1.Service) {
		return func(s *corev1.Service) { s.Spec.Type = serviceType }
	}
	headless := func(s *corev1.Service) { s.Spec.ClusterIP = corev1.ClusterIPNone }
	noPorts := func(s *corev1.Service) { s.Spec.Ports = nil }
	const ranges = corev1.AnnotationLoadBalancerSourceRangesKey

	for _, row := range []struct {
		name   string
		mutate func(*corev1.Service)
		want   []string
	}{
		{"a Service without defaults is accepted", func(*corev1.Service) {}, nil},
		{"a Service without ports is refused", noPorts, []string{"Required value: spec.ports"}},
		{"a headless Service without ports is accepted", all(headless, noPorts), nil},
		{"type ExternalName is refused", serviceType(corev1.ServiceTypeExternalName), []string{"Unsupported value: spec.type"}},
		{"a headless Service of type NodePort is refused", all(headless, serviceType(corev1.ServiceTypeNodePort)), []string{"Invalid value: spec.clusterIPs[0]"}},
		{"a selector that is no label is refused", func(s *corev1.Service) { s.Spec.Selector = map[string]string{"a": "b c"} }, []string{"Invalid value: spec.selector"}},
		{"an annotation whose key is not qualified is refused", annotation("a b", ""), []string{"Invalid value: metadata.annotations"}},
		{"a target port of 0 is accepted", port(func(p *corev1.ServicePort) { p.TargetPort = intstr.FromInt32(0) }), nil},
		{"a target port above the last is refused", port(func(p *corev1.ServicePort) { p.TargetPort = intstr.FromInt32(65536) }), []string{"Invalid value: spec.ports[0].targetPort"}},
		{"a node port without a type is refused", port(func(p *corev1.ServicePort) { p.NodePort = 30000 }), []string{"Forbidden: spec.ports[0].nodePort"}},
		{"a class without type LoadBalancer is refused", func(s *corev1.Service) { s.Spec.LoadBalancerClass = ptr.To("a") }, []string{"Forbidden: spec.loadBalancerClass"}},
		{"annotated source ranges without type LoadBalancer are refused", annotation(ranges, ""), []string{"Forbidden: metadata.annotations[" + ranges + "]"}},
		{"annotated source ranges that are no networks are refused", all(serviceType(corev1.ServiceTypeLoadBalancer), annotation(ranges, "10.0.0.0/8, a")),
			[]string{"Invalid value: metadata.annotations[" + ranges + "]"}},
		{"annotated source ranges beside source ranges in the spec are not validated", all(serviceType(corev1.ServiceTypeLoadBalancer), annotation(ranges, "a"),
			func(s *corev1.Service) { s.Spec.LoadBalancerSourceRanges = []string{"10.0.0.0/8"} }), nil},
	} {
		t.Run(row.name, func(t *testing.T) {
			service := &corev1.Service{Spec: corev1.ServiceSpec{Ports: []corev1.ServicePort{{Port: 80}}}}
			row.mutate(service)
			errs := ValidateService(service)
			var got []string
			for _, err := range errs {
				got = append(got, err.Type.String()+": "+err.Field)
			}
			if !slices.Equal(got, row.want) {
				t.Errorf("got %q\nwant %q\nin full: %v", got, row.want, errs.ToAggregate())
			}
		})
	}
}
