// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package kinds

import (
	"context"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"
	"k8s.io/utils/ptr"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"
	gatewayclient "sigs.k8s.io/gateway-api/pkg/client/clientset/versioned"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/childkinds"
	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	modelboxapply "github.com/sharelinuxs/modelbox-apiserver/pkg/apply/modelbox"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/children"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/informers"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/reconciler"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/render"
)

var httpRoutes = childkinds.HTTPRoute.GroupResource()

// NewRouteInformer returns an informer of the HTTPRoutes that this server has made, where the cluster serves that kind.
func NewRouteInformer(client gatewayclient.Interface) (*informers.Optional, error) {
	routes := client.GatewayV1().HTTPRoutes(metav1.NamespaceAll)
	return informers.NewOptional(httpRoutes, &cache.ListWatch{
		ListWithContextFunc: func(ctx context.Context, options metav1.ListOptions) (runtime.Object, error) {
			options.LabelSelector = managedSelector
			return routes.List(ctx, options)
		},
		WatchFuncWithContext: func(ctx context.Context, options metav1.ListOptions) (watch.Interface, error) {
			options.LabelSelector = managedSelector
			return routes.Watch(ctx, options)
		},
	}, &gatewayv1.HTTPRoute{}, TrimChild)
}

const managedSelector = render.ManagedByLabel + "=" + render.ManagedBy

// routeKind returns the HTTPRoutes of boxes as a kind of children.
func routeKind(client gatewayclient.Interface, informer *informers.Optional) *children.Kind {
	kind := children.NewKind(modelboxapply.Kind(childkinds.HTTPRoute), informer,
		func(namespace string) children.Client[*gatewayv1.HTTPRoute] {
			return client.GatewayV1().HTTPRoutes(namespace)
		})
	kind.IsServed = informer.IsServed
	return kind
}

// RouteVerdict returns why the box cannot be reached by its HTTPRoute, or a note about the route if the box may be reached. It does
// not wait for a status of the route: a Gateway that exists only by name never writes one.
func RouteVerdict(route *gatewayv1.HTTPRoute) (notReady *reconciler.Verdict, note string) {
	if route == nil {
		return nil, ""
	}
	for i := range route.Status.Parents {
		parent := &route.Status.Parents[i]
		for _, condition := range parent.Conditions {
			if isRefusal(&condition) && condition.ObservedGeneration == route.Generation {
				return &reconciler.Verdict{Reason: modelv1.ReasonRouteNotAccepted, Message: fmt.Sprintf("%s %s: %s is False: %s: %s",
					ptr.Deref(parent.ParentRef.Kind, "Gateway"), parent.ParentRef.Name, condition.Type, condition.Reason, condition.Message)}, ""
			}
		}
	}
	if len(route.Status.Parents) == 0 {
		return nil, "no Gateway has accepted the HTTPRoute"
	}
	return nil, ""
}

// isRefusal returns whether a parent does not take a route, or not the Service that it leads to.
func isRefusal(condition *metav1.Condition) bool {
	isAbout := condition.Type == string(gatewayv1.RouteConditionAccepted) || condition.Type == string(gatewayv1.RouteConditionResolvedRefs)
	return isAbout && condition.Status == metav1.ConditionFalse
}
