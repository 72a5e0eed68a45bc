// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package modelbox

import (
	"strings"
	"testing"

	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model"
)

func expectValidIngress(t *testing.T, box *model.ModelBox, ingress *networkingv1.Ingress) {
	t.Helper()
	if len(ingress.Spec.Rules) == 0 {
		t.Error("the Ingress has no rules")
	}
	for _, rule := range ingress.Spec.Rules {
		expectValidHost(t, rule.Host)
		if len(rule.HTTP.Paths) == 0 {
			t.Error("a rule of the Ingress has no paths")
		}
		for _, path := range rule.HTTP.Paths {
			if path.Path != "" && !strings.HasPrefix(path.Path, "/") || path.PathType == nil {
				t.Errorf("the Ingress has the path %q of type %v", path.Path, path.PathType)
			}
			expectPortOfBox(t, box, path.Backend.Service.Name, path.Backend.Service.Port.Number)
		}
	}
}

func expectValidRoute(t *testing.T, box *model.ModelBox, route *gatewayv1.HTTPRoute) {
	t.Helper()
	if len(route.Spec.ParentRefs) == 0 {
		t.Error("the HTTPRoute has no parents")
	}
	for _, host := range route.Spec.Hostnames {
		expectValidHost(t, string(host))
	}
	if len(route.Spec.Rules) == 0 {
		t.Error("the HTTPRoute has no rules")
	}
	for _, rule := range route.Spec.Rules {
		if len(rule.Matches) == 0 {
			t.Error("a rule of the HTTPRoute has no matches")
		}
		for _, backend := range rule.BackendRefs {
			expectPortOfBox(t, box, string(backend.Name), *backend.Port)
		}
	}
}

func expectValidGRPCRoute(t *testing.T, box *model.ModelBox, route *gatewayv1.GRPCRoute) {
	t.Helper()
	if len(route.Spec.ParentRefs) == 0 {
		t.Error("the GRPCRoute has no parents")
	}
	for _, host := range route.Spec.Hostnames {
		expectValidHost(t, string(host))
	}
	if len(route.Spec.Rules) == 0 {
		t.Error("the GRPCRoute has no rules")
	}
	for _, rule := range route.Spec.Rules {
		if len(rule.BackendRefs) == 0 {
			t.Error("a rule of the GRPCRoute has no backends")
		}
		for _, backend := range rule.BackendRefs {
			expectPortOfBox(t, box, string(backend.Name), *backend.Port)
		}
	}
}

func expectValidHost(t *testing.T, host string) {
	t.Helper()
	if host == "" {
		return
	}
	for _, message := range validation.IsDNS1123Subdomain(strings.TrimPrefix(host, "*.")) {
		t.Errorf("the host %q: %s", host, message)
	}
}

// expectPortOfBox expects the port to be one of the Service that HTTP can go to.
func expectPortOfBox(t *testing.T, box *model.ModelBox, service string, number int32) {
	t.Helper()
	for _, port := range box.Spec.Ports {
		if port.Port == number && port.Protocol == "TCP" && service == box.Name {
			return
		}
	}
	t.Errorf("HTTP goes to port %d of Service %s", number, service)
}
