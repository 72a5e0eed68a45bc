// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package fields_test

import (
	"testing"

	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/utils/ptr"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apply/fields"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/fixture"
)

func TestCompareOfRulesOfAnIngress(t *testing.T) {
	rule := func(host string) networkingv1.IngressRule {
		return networkingv1.IngressRule{Host: host, IngressRuleValue: networkingv1.IngressRuleValue{HTTP: &networkingv1.HTTPIngressRuleValue{
			Paths: []networkingv1.HTTPIngressPath{{Path: "/", PathType: ptr.To(networkingv1.PathTypePrefix), Backend: networkingv1.IngressBackend{
				Service: &networkingv1.IngressServiceBackend{Name: "web", Port: networkingv1.ServiceBackendPort{Number: 80}},
			}}},
		}}}
	}
	ingress := func(rules ...networkingv1.IngressRule) *networkingv1.Ingress {
		ingress := &networkingv1.Ingress{Spec: networkingv1.IngressSpec{Rules: rules}}
		ingress.SetGroupVersionKind(networkingv1.SchemeGroupVersion.WithKind("Ingress"))
		return ingress
	}
	compare := fixture.NewComparer()
	for _, row := range []struct {
		name           string
		rendered, live *networkingv1.Ingress
		want           []string
	}{
		{"the same rule", ingress(rule("example.com")), ingress(rule("example.com")), nil},
		{"the same rule for any host", ingress(rule("")), ingress(rule("")), nil},
		{"another host", ingress(rule("example.com")), ingress(rule("example.org")), []string{".spec.rules"}},
		{"a host in place of any", ingress(rule("")), ingress(rule("example.org")), []string{".spec.rules"}},
		{"any host in place of one", ingress(rule("example.com")), ingress(rule("")), []string{".spec.rules"}},
		{"a rule more", ingress(rule("example.com")), ingress(rule("example.com"), rule("example.org")), []string{".spec.rules"}},
	} {
		t.Run(row.name, func(t *testing.T) {
			object, err := runtime.DefaultUnstructuredConverter.ToUnstructured(row.rendered)
			if err != nil {
				t.Fatal(err)
			}
			delete(object, "status")
			checkDifferences(t, row.want, func() (*fields.Difference, error) {
				return compare.Compare(&unstructured.Unstructured{Object: object}, row.live)
			})
		})
	}
}
