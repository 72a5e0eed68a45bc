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

// RouteInformers are informers of the routes that this server has made, for the kinds of routes that the cluster serves.
type RouteInformers struct {
	HTTPRoutes, GRPCRoutes *informers.Optional
}

// NewRouteInformers returns the informers, which are not started.
func NewRouteInformers(client gatewayclient.Interface) (*RouteInformers, error) {
	httpRoutes, err := newRouteInformer(childkinds.HTTPRoute, client.GatewayV1().HTTPRoutes(metav1.NamespaceAll), &gatewayv1.HTTPRoute{})
	if err != nil {
		return nil, err
	}
	grpcRoutes, err := newRouteInformer(childkinds.GRPCRoute, client.GatewayV1().GRPCRoutes(metav1.NamespaceAll), &gatewayv1.GRPCRoute{})
	if err != nil {
		return nil, err
	}
	return &RouteInformers{httpRoutes, grpcRoutes}, nil
}

// routeClient lists and watches routes of one kind.
type routeClient[List runtime.Object] interface {
	List(context.Context, metav1.ListOptions) (List, error)
	Watch(context.Context, metav1.ListOptions) (watch.Interface, error)
}

func newRouteInformer[List runtime.Object](kind childkinds.Kind, routes routeClient[List], example runtime.Object) (*informers.Optional, error) {
	return informers.NewOptional(kind.GroupResource(), &cache.ListWatch{
		ListWithContextFunc: func(ctx context.Context, options metav1.ListOptions) (runtime.Object, error) {
			options.LabelSelector = managedSelector
			return routes.List(ctx, options)
		},
		WatchFuncWithContext: func(ctx context.Context, options metav1.ListOptions) (watch.Interface, error) {
			options.LabelSelector = managedSelector
			return routes.Watch(ctx, options)
		},
	}, example, TrimChild)
}

const managedSelector = render.ManagedByLabel + "=" + render.ManagedBy

// routeKind returns routes of boxes as a kind of children.
func routeKind[R children.Object](row childkinds.Kind, informer *informers.Optional, client func(namespace string) children.Client[R]) *children.Kind {
	kind := children.NewKind(modelboxapply.Kind(row), informer, client)
	kind.IsServed = informer.IsServed
	return kind
}

// HTTPRouteVerdict returns why the box cannot be reached by its HTTPRoute, or a note about the route if the box may be reached. It
// does not wait for a status of the route: a Gateway that exists only by name never writes one.
func HTTPRouteVerdict(route *gatewayv1.HTTPRoute) (notReady *reconciler.Verdict, note string) {
	if route == nil {
		return nil, ""
	}
	return routeVerdict(childkinds.HTTPRoute, route.Generation, route.Status.Parents)
}

// GRPCRouteVerdict is like HTTPRouteVerdict, for the GRPCRoute.
func GRPCRouteVerdict(route *gatewayv1.GRPCRoute) (notReady *reconciler.Verdict, note string) {
	if route == nil {
		return nil, ""
	}
	return routeVerdict(childkinds.GRPCRoute, route.Generation, route.Status.Parents)
}

func routeVerdict(kind childkinds.Kind, generation int64, parents []gatewayv1.RouteParentStatus) (notReady *reconciler.Verdict, note string) {
	for i := range parents {
		parent := &parents[i]
		for _, condition := range parent.Conditions {
			if isRefusal(&condition) && condition.ObservedGeneration == generation {
				return &reconciler.Verdict{Reason: modelv1.ReasonRouteNotAccepted, Message: fmt.Sprintf("%s %s: %s is False: %s: %s",
					ptr.Deref(parent.ParentRef.Kind, "Gateway"), parent.ParentRef.Name, condition.Type, condition.Reason, condition.Message)}, ""
			}
		}
	}
	if len(parents) == 0 {
		return nil, "no Gateway has accepted the " + kind.Kind
	}
	return nil, ""
}

// isRefusal returns whether a parent does not take a route, or not the Service that it leads to.
func isRefusal(condition *metav1.Condition) bool {
	isAbout := condition.Type == string(gatewayv1.RouteConditionAccepted) || condition.Type == string(gatewayv1.RouteConditionResolvedRefs)
	return isAbout && condition.Status == metav1.ConditionFalse
}
