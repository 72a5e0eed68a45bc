// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"
	gatewayclient "sigs.k8s.io/gateway-api/pkg/client/clientset/versioned"

	"github.com/sharelinuxs/modelbox-apiserver/hack/universe/apiserver"
	"github.com/sharelinuxs/modelbox-apiserver/hack/universe/store"
)

// Gateway accepts all HTTPRoutes. It does one step at a time.
type Gateway struct {
	Client gatewayclient.Interface
	Store  *store.Store
}

// Steps returns the steps that can be done now.
func (g *Gateway) Steps() []Step {
	var steps []Step
	for _, object := range g.Store.Objects(apiserver.HTTPRoutePrefix) {
		if route := object.(*gatewayv1.HTTPRoute); !isAccepted(route) {
			steps = append(steps, Step{"accept HTTPRoute " + route.Namespace + "/" + route.Name, func(ctx context.Context) error { return g.accept(ctx, route) }})
		}
	}
	return steps
}

func isAccepted(route *gatewayv1.HTTPRoute) bool {
	parents := route.Status.Parents
	return len(parents) > 0 && parents[0].Conditions[0].ObservedGeneration == route.Generation
}

func (g *Gateway) accept(ctx context.Context, route *gatewayv1.HTTPRoute) error {
	route = route.DeepCopy()
	route.Status.Parents = []gatewayv1.RouteParentStatus{{
		ParentRef: route.Spec.ParentRefs[0], ControllerName: "example.com/gateway",
		Conditions: []metav1.Condition{{
			Type: string(gatewayv1.RouteConditionAccepted), Status: metav1.ConditionTrue, Reason: string(gatewayv1.RouteReasonAccepted),
			ObservedGeneration: route.Generation, LastTransitionTime: metav1.Now(),
		}},
	}}
	_, err := g.Client.GatewayV1().HTTPRoutes(route.Namespace).UpdateStatus(ctx, route, metav1.UpdateOptions{})
	return err
}
