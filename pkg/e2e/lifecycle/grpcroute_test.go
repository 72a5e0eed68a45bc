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

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/helper"
	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/e2e/framework"
)

// TestGRPCRouteOfABox is the only test of this package that defines the kind, which the cluster does not serve by default.
func TestGRPCRouteOfABox(t *testing.T) {
	t.Parallel()
	n := framework.NewNamespace(t)
	client, err := gatewayclient.NewForConfig(n.ControlPlane.Config)
	if err != nil {
		t.Fatal(err)
	}
	awaitRoute := func(what string, condition func(*gatewayv1.GRPCRoute) error) {
		t.Helper()
		n.Eventually("the GRPCRoute "+what, func() error {
			route, err := client.GatewayV1().GRPCRoutes(n.Name).Get(n.Ctx, "greeter", metav1.GetOptions{})
			if err != nil {
				return err
			}
			return condition(route)
		})
	}
	n.CreateBox(framework.NewBox("greeter", func(spec *modelv1.ModelBoxSpec) {
		spec.GRPCRoute = &modelv1.ModelBoxGRPCRoute{ParentRefs: []modelv1.RouteParentReference{{Name: "public"}}, Hosts: []string{"greeter.example.com"}}
	}))
	n.AwaitBox("greeter", "is not applied", func(box *modelv1.ModelBox) error {
		return framework.CheckCondition(box, modelv1.ConditionApplied, metav1.ConditionFalse, modelv1.ReasonNotServed)
	})

	definition := framework.InModule(t, ".", "sigs.k8s.io/gateway-api", "config/crd/standard/gateway.networking.k8s.io_grpcroutes.yaml")
	n.Kubectl.Run("create", "--filename="+definition)
	n.Kubectl.RunAtEnd("delete", "--ignore-not-found", "--filename="+definition)
	n.AwaitReady("greeter")
	n.ExpectConverged("greeter")

	n.UpdateBox("greeter", framework.WithSteps(modelv1.RolloutCanary, modelv1.ModelBoxRolloutStep{Weight: 10, Pause: modelv1.PauseManual}))
	n.AwaitReady("greeter")
	n.UpdateBox("greeter", framework.WithImage(framework.NewImage))
	n.AwaitStep("greeter", 1, 10)
	awaitRoute("has the weights of the step", func(route *gatewayv1.GRPCRoute) error {
		weights := map[string]int32{}
		for _, backend := range route.Spec.Rules[0].BackendRefs {
			weights[string(backend.Name)] = *backend.Weight
		}
		if len(weights) != 2 || weights["greeter"] != 90 || weights[helper.CandidateName("greeter")] != 10 {
			return fmt.Errorf("they are %v", weights)
		}
		return nil
	})
	n.ExpectConverged("greeter")
	n.Promote("greeter")
	n.AwaitReady("greeter")
	awaitNoCandidate(n, "greeter")

	// Every field of a rule, and rules that are as large as they may be. The API server has the same limits and defaults.
	n.Kubectl.Run("patch", "modelbox", "greeter", "--type=merge", `--patch={"spec": {"grpcRoute": {"rules": [
		{"matches": [
			{"method": {"service": "shop.v1.Cart", "method": "Checkout"}, "headers": [{"name": "X-Version", "value": "beta"}]},
			{"method": {"service": "shop[.].*", "type": "RegularExpression"}},
			{"method": {"method": "List"}}, {}],
		 "requestHeaderModifier": {"set": [{"name": "a", "value": "b"}], "add": [{"name": "c", "value": "d"}], "remove": ["e"]},
		 "responseHeaderModifier": {"remove": ["server"]}},
		{}]}}}`)
	hasRules := func(want int) func(*gatewayv1.GRPCRoute) error {
		return func(route *gatewayv1.GRPCRoute) error {
			if got := len(route.Spec.Rules); got != want {
				return fmt.Errorf("it has %d", got)
			}
			return nil
		}
	}
	awaitRoute("has 2 rules", hasRules(2))
	n.AwaitReady("greeter")
	n.ExpectConverged("greeter")

	name := strings.Repeat("a", 1024)
	largest := modelv1.GRPCRouteMatch{Method: &modelv1.GRPCMethodMatch{Service: name, Method: name}, Headers: make([]modelv1.RouteValueMatch, 16)}
	for i := range largest.Headers {
		largest.Headers[i] = modelv1.RouteValueMatch{Name: strings.Repeat("a", 250) + fmt.Sprintf("-%05d", i), Value: strings.Repeat("a", 4096)}
	}
	rules := make([]modelv1.GRPCRouteRule, 16)
	for i := range rules {
		rules[i].Matches = slices.Repeat([]modelv1.GRPCRouteMatch{{Method: &modelv1.GRPCMethodMatch{Method: "List"}}}, 8)
	}
	rules[0].Matches[0] = largest
	n.UpdateBox("greeter", func(spec *modelv1.ModelBoxSpec) { spec.GRPCRoute.Rules = rules })
	awaitRoute("has 16 rules", hasRules(16))
	n.AwaitReady("greeter")
	n.ExpectConverged("greeter")

	n.Kubectl.Run("patch", "grpcroute", "greeter", "--type=merge", "--field-manager=kubectl-edit", `--patch={"spec": {"hostnames": ["stolen.example.com"]}}`)
	n.Events.Await("greeter", "RestoredGRPCRoute", "kubectl-edit")
	n.UpdateBox("greeter", func(spec *modelv1.ModelBoxSpec) { spec.GRPCRoute = nil })
	n.Eventually("the GRPCRoute is gone", func() error {
		routes, err := client.GatewayV1().GRPCRoutes(n.Name).List(n.Ctx, metav1.ListOptions{})
		if err != nil || len(routes.Items) > 0 {
			return fmt.Errorf("got %v and %d routes", err, len(routes.Items))
		}
		return nil
	})
	n.AwaitReady("greeter")
}
