// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package kinds

import (
	"slices"

	kubeinformers "k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"
	gatewayclient "sigs.k8s.io/gateway-api/pkg/client/clientset/versioned"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/childkinds"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/children"
)

// Sources are the clients that write the children of boxes, and the informers that cache them.
type Sources struct {
	KubeClient    kubernetes.Interface
	GatewayClient gatewayclient.Interface
	// Children caches the children of every kind that is in the API of Kubernetes.
	Children kubeinformers.SharedInformerFactory
	// Routes are the informers that NewRouteInformers returns.
	Routes *RouteInformers
	// Pods caches the pods of boxes.
	Pods cache.Indexer
}

// New returns the kinds of the children of boxes, in the order in which a reconcile writes them.
func New(s Sources) []*children.Kind {
	configMaps := configMapKind(s.KubeClient, s.Children.Core().V1().ConfigMaps().Informer(), s.Pods)
	claims := claimKind(s.KubeClient, s.Children.Core().V1().PersistentVolumeClaims().Informer(), s.Pods)
	workloads := []*children.Kind{
		deploymentKind(s.KubeClient, s.Children.Apps().V1().Deployments().Informer()),
		statefulSetKind(s.KubeClient, s.Children.Apps().V1().StatefulSets().Informer()),
		daemonSetKind(s.KubeClient, s.Children.Apps().V1().DaemonSets().Informer()),
		jobKind(s.KubeClient, s.Children.Batch().V1().Jobs().Informer()),
		cronJobKind(s.KubeClient, s.Children.Batch().V1().CronJobs().Informer()),
	}
	// A pod reads the files that exist when it starts, and cannot start without its volumes.
	for _, workload := range workloads {
		workload.Prerequisites = []*children.Kind{configMaps, claims}
		workload.Relies = mountsClaim
	}
	// The connections of a pod are restricted from its start.
	policies := networkPolicyKind(s.KubeClient, s.Children.Networking().V1().NetworkPolicies().Informer())
	return slices.Concat([]*children.Kind{configMaps, claims, policies}, workloads, []*children.Kind{
		serviceKind(s.KubeClient, s.Children.Core().V1().Services().Informer()),
		ingressKind(s.KubeClient, s.Children.Networking().V1().Ingresses().Informer()),
		routeKind(childkinds.HTTPRoute, s.Routes.HTTPRoutes, func(namespace string) children.Client[*gatewayv1.HTTPRoute] {
			return s.GatewayClient.GatewayV1().HTTPRoutes(namespace)
		}),
		routeKind(childkinds.GRPCRoute, s.Routes.GRPCRoutes, func(namespace string) children.Client[*gatewayv1.GRPCRoute] {
			return s.GatewayClient.GatewayV1().GRPCRoutes(namespace)
		}),
		autoscalerKind(s.KubeClient, s.Children.Autoscaling().V2().HorizontalPodAutoscalers().Informer()),
		disruptionBudgetKind(s.KubeClient, s.Children.Policy().V1().PodDisruptionBudgets().Informer()),
	})
}
