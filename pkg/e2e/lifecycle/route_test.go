// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"
	gatewayclient "sigs.k8s.io/gateway-api/pkg/client/clientset/versioned"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/e2e/framework"
)

// withRoute sets an HTTPRoute of the Gateway "public".
func withRoute(hosts ...string) func(*modelv1.ModelBoxSpec) {
	return func(spec *modelv1.ModelBoxSpec) {
		spec.Route = &modelv1.ModelBoxRoute{ParentRefs: []modelv1.RouteParentReference{{Name: "public"}}, Hosts: hosts}
	}
}

// awaitRoute waits until the HTTPRoute exists and has the host, and returns it.
func awaitRoute(n *framework.Namespace, client gatewayclient.Interface, name, host string) *gatewayv1.HTTPRoute {
	n.T.Helper()
	var route *gatewayv1.HTTPRoute
	n.Eventually(fmt.Sprintf("HTTPRoute %s has the host %s", name, host), func() (err error) {
		if route, err = client.GatewayV1().HTTPRoutes(n.Name).Get(n.Ctx, name, metav1.GetOptions{}); err != nil {
			return err
		}
		if len(route.Spec.Hostnames) != 1 || string(route.Spec.Hostnames[0]) != host {
			return fmt.Errorf("it has %q", route.Spec.Hostnames)
		}
		return nil
	})
	return route
}

// TestRouteOfABox is the only test of this package that defines the kind, which the cluster does not serve by default.
func TestRouteOfABox(t *testing.T) {
	t.Parallel()
	n := framework.NewNamespace(t)
	client, err := gatewayclient.NewForConfig(n.ControlPlane.Config)
	if err != nil {
		t.Fatal(err)
	}
	n.CreateBox(framework.NewBox("web", withRoute("web.example.com")))
	n.AwaitBox("web", "is not applied, but runs", func(box *modelv1.ModelBox) error {
		if box.Status.AvailableReplicas != 1 {
			return fmt.Errorf("%d replicas are available", box.Status.AvailableReplicas)
		}
		return framework.CheckCondition(box, modelv1.ConditionApplied, metav1.ConditionFalse, modelv1.ReasonNotServed)
	})

	definition := framework.InModule(t, ".", "sigs.k8s.io/gateway-api", "config/crd/standard/gateway.networking.k8s.io_httproutes.yaml")
	n.Kubectl.Run("create", "--filename="+definition)
	n.Kubectl.RunAtEnd("delete", "--ignore-not-found", "--filename="+definition)
	awaitRoute(n, client, "web", "web.example.com")
	n.AwaitReady("web")
	n.ExpectConverged("web")
	expectWeights(n, client, "web")

	n.UpdateBox("web", withRoute("other.example.com"))
	awaitRoute(n, client, "web", "other.example.com")
	n.Kubectl.Run("patch", "httproute", "web", "--type=merge", "--field-manager=kubectl-edit", `--patch={"spec": {"hostnames": ["stolen.example.com"]}}`)
	n.Events.Await("web", "RestoredHTTPRoute", "kubectl-edit")
	route := awaitRoute(n, client, "web", "other.example.com")

	route.Status.Parents = []gatewayv1.RouteParentStatus{{
		ParentRef: route.Spec.ParentRefs[0], ControllerName: "example.com/test",
		Conditions: []metav1.Condition{{Type: string(gatewayv1.RouteConditionAccepted), Status: metav1.ConditionFalse, ObservedGeneration: route.Generation,
			Reason: "NotAllowedByListeners", Message: "no listener takes it", LastTransitionTime: metav1.Now()}},
	}}
	if _, err := client.GatewayV1().HTTPRoutes(n.Name).UpdateStatus(n.Ctx, route, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
	n.AwaitReadyCondition("web", metav1.ConditionFalse, modelv1.ReasonRouteNotAccepted, "no listener takes it")

	expectRules(n, client)

	n.UpdateBox("web", func(spec *modelv1.ModelBoxSpec) { spec.Route = nil })
	n.Eventually("the HTTPRoute is gone", func() error {
		routes, err := client.GatewayV1().HTTPRoutes(n.Name).List(n.Ctx, metav1.ListOptions{})
		if err != nil || len(routes.Items) > 0 {
			return fmt.Errorf("got %v and %d routes", err, len(routes.Items))
		}
		return nil
	})
	n.AwaitReady("web")

	n.UpdateBox("web", withRoute("web.example.com"))
	awaitRoute(n, client, "web", "web.example.com")
	n.Kubectl.Run("delete", "--filename="+definition)
	n.AwaitBox("web", "is no longer applied", func(box *modelv1.ModelBox) error {
		return framework.CheckCondition(box, modelv1.ConditionApplied, metav1.ConditionFalse, modelv1.ReasonNotServed)
	})
}

// expectRules gives the route of a box every field of a rule, and rules that are as large as they may be. The API server has the same
// limits and defaults.
func expectRules(n *framework.Namespace, client gatewayclient.Interface) {
	n.T.Helper()
	n.CreateReadyBox(framework.NewBox("rules", withRoute("rules.example.com")))
	n.Kubectl.Run("patch", "modelbox", "rules", "--type=merge", `--patch={"spec": {"route": {"rules": [
		{"matches": [
			{"path": "/api", "method": "GET", "headers": [{"name": "X-Version", "value": "beta"}], "queryParams": [{"name": "a", "value": "[a-z]+", "type": "RegularExpression"}]},
			{"path": "/exact", "pathType": "Exact"}],
		 "requestHeaderModifier": {"set": [{"name": "a", "value": "b"}], "add": [{"name": "c", "value": "d"}], "remove": ["e"]},
		 "responseHeaderModifier": {"remove": ["server"]},
		 "urlRewrite": {"hostname": "shop.internal", "path": {"replaceFullPath": "/"}},
		 "timeouts": {"request": "1m30s", "backendRequest": "500ms"}},
		{"requestRedirect": {"scheme": "https", "hostname": "www.example.com", "path": {"replacePrefixMatch": ""}, "port": 8443, "statusCode": 308}},
		{}]}}}`)
	awaitRules(n, client, 3)
	n.AwaitReady("rules")
	n.ExpectConverged("rules")

	largest := modelv1.RouteMatch{Path: "/" + strings.Repeat("a", 1023), Headers: make([]modelv1.RouteValueMatch, 16), QueryParams: make([]modelv1.RouteValueMatch, 16)}
	for i := range 16 {
		name := strings.Repeat("a", 250) + fmt.Sprintf("-%05d", i)
		largest.Headers[i] = modelv1.RouteValueMatch{Name: name, Value: strings.Repeat("a", 4096)}
		largest.QueryParams[i] = modelv1.RouteValueMatch{Name: name, Value: strings.Repeat("a", 1024)}
	}
	rules := make([]modelv1.RouteRule, 16)
	for i := range rules {
		rules[i] = modelv1.RouteRule{Matches: slices.Repeat([]modelv1.RouteMatch{{Method: "GET"}}, 8), Timeouts: &modelv1.RouteTimeouts{Request: "99999h59m59s999ms"}}
	}
	rules[0].Matches[0] = largest
	n.UpdateBox("rules", func(spec *modelv1.ModelBoxSpec) { spec.Route.Rules = rules })
	awaitRules(n, client, len(rules))
	n.AwaitReady("rules")
	n.ExpectConverged("rules")

	n.Kubectl.Run("patch", "modelbox", "rules", "--type=merge", `--patch={"spec": {"route": {"rules": null}}}`)
	awaitRules(n, client, 1)
	n.AwaitReady("rules")
	n.Kubectl.Run("delete", "modelbox", "rules")
}

func awaitRules(n *framework.Namespace, client gatewayclient.Interface, want int) {
	n.T.Helper()
	n.Eventually(fmt.Sprintf("the HTTPRoute has %d rules", want), func() error {
		route, err := client.GatewayV1().HTTPRoutes(n.Name).Get(n.Ctx, "rules", metav1.GetOptions{})
		if err != nil || len(route.Spec.Rules) != want {
			return fmt.Errorf("got %v and %d rules", err, len(route.Spec.Rules))
		}
		return nil
	})
}
