// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package containers

import (
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/tools/cache"
	"k8s.io/utils/ptr"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"
	gatewayclient "sigs.k8s.io/gateway-api/pkg/client/clientset/versioned"
	gatewayinformers "sigs.k8s.io/gateway-api/pkg/client/informers/externalversions"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/e2e/framework"
)

// serveHTTPRoutes makes the cluster serve HTTPRoutes until the end of the test.
func serveHTTPRoutes(n *framework.Namespace) {
	n.T.Helper()
	definition := framework.InModule(n.T, ".", "sigs.k8s.io/gateway-api", "config/crd/standard/gateway.networking.k8s.io_httproutes.yaml")
	n.Kubectl.Run("create", "--filename="+definition)
	n.Kubectl.RunAtEnd("delete", "--ignore-not-found", "--filename="+definition)
	n.Kubectl.Run("wait", "--for=condition=Established", "customresourcedefinition/httproutes.gateway.networking.k8s.io")
}

// startGatewayController is like startIngressController. The proxy is also the Gateway of all HTTPRoutes.
func startGatewayController(n *framework.Namespace, class, proxy string) *ingressController {
	n.T.Helper()
	client, err := gatewayclient.NewForConfig(n.ControlPlane.Config)
	if err != nil {
		n.T.Fatal(err)
	}
	factory := gatewayinformers.NewSharedInformerFactoryWithOptions(client, 0, gatewayinformers.WithNamespace(n.Name))
	routes := factory.Gateway().V1().HTTPRoutes()
	c := newIngressController(n, class, proxy)
	c.routes = routes.Lister().HTTPRoutes(n.Name)
	c.factories = append(c.factories, factory)
	c.informers = append(c.informers, cache.SharedIndexInformer(routes.Informer()))
	c.start()
	return c
}

func (c *ingressController) listRoutes() ([]*gatewayv1.HTTPRoute, error) {
	if c.routes == nil {
		return nil, nil
	}
	return c.routes.List(labels.Everything())
}

// addRoute adds an HTTPRoute in the form that boxes have: each rule has one path, and the backends are Services with weights.
func (x *nginx) addRoute(route *gatewayv1.HTTPRoute, backends *backends) error {
	for i, rule := range route.Spec.Rules {
		path := rule.Matches[0].Path
		upstream, err := x.addBackends(fmt.Sprintf("$%s_%d", strings.ReplaceAll(route.Name, "-", "_"), i), rule.BackendRefs, backends)
		if err != nil {
			return err
		}
		for _, host := range route.Spec.Hostnames {
			for _, location := range nginxLocations(*path.Value, *path.Type == gatewayv1.PathMatchExact) {
				x.server(string(host)).Locations[location] = upstream
			}
		}
	}
	return nil
}

// addBackends adds the Services of a rule, and returns the name of the only one, or of the split between them.
func (x *nginx) addBackends(variable string, references []gatewayv1.HTTPBackendRef, backends *backends) (string, error) {
	var sum int32
	for _, reference := range references {
		sum += ptr.Deref(reference.Weight, 1)
	}
	var shares []nginxShare
	for _, reference := range references {
		weight := ptr.Deref(reference.Weight, 1)
		if weight == 0 {
			continue
		}
		upstream, err := x.addUpstream(string(reference.Name), *reference.Port, backends)
		if err != nil || weight == sum {
			return upstream, err
		}
		shares = append(shares, nginxShare{Upstream: upstream, Percent: 100 * float64(weight) / float64(sum)})
	}
	if len(shares) == 0 {
		return "", nil // No upstream has this name: the proxy responds with 503.
	}
	shares[len(shares)-1].IsLast = true
	x.Splits[variable] = shares
	return variable, nil
}

// withRoute sets an HTTPRoute of the host.
func withRoute(host string) func(*modelv1.ModelBoxSpec) {
	return func(spec *modelv1.ModelBoxSpec) {
		spec.Route = &modelv1.ModelBoxRoute{ParentRefs: []modelv1.RouteParentReference{{Name: "public"}}, Hosts: []string{host}}
	}
}

// shareOf returns the percentage of the requests for a host that the proxy sends to the pods with these addresses.
func (x *nginx) shareOf(host string, isSelected func(address string) bool) float64 {
	if x == nil || x.Servers[host] == nil {
		return 0
	}
	upstream := x.Servers[host].Locations["/"]
	shares, isSplit := x.Splits[upstream]
	if !isSplit {
		return 100 * selectedPart(x.Upstreams[upstream], isSelected)
	}
	var percent float64
	for _, share := range shares {
		percent += share.Percent * selectedPart(x.Upstreams[share.Upstream], isSelected)
	}
	return percent
}

// selectedPart returns the part of the addresses that is selected, 0 without addresses.
func selectedPart(addresses []string, isSelected func(string) bool) float64 {
	var selected int
	for _, address := range addresses {
		if isSelected(address) {
			selected++
		}
	}
	return float64(selected) / float64(max(1, len(addresses)))
}
