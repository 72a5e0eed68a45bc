// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package containers

import (
	"fmt"
	"net"
	"sync"
	"sync/atomic"
	"time"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/informers"
	networkinglisters "k8s.io/client-go/listers/networking/v1"
	"k8s.io/client-go/tools/cache"
	"k8s.io/utils/ptr"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"
	gatewaylisters "sigs.k8s.io/gateway-api/pkg/client/listers/apis/v1"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/e2e/framework"
)

const (
	// proxyImage is nginx. It only exists if it can be built from Debian packages.
	proxyImage = "localcluster/nginx:1"

	ingressRetryPeriod = time.Second
)

// startProxy starts a box with a proxy without routes, and returns its name.
func startProxy(n *framework.Namespace) (box string) {
	n.T.Helper()
	n.CreateReadyBox(newAppBox("proxy", framework.WithImage(proxyImage), framework.WithReadinessProbe(framework.TCPSocket),
		framework.WithPorts(corev1.ServicePort{Name: "http", Port: 80}, corev1.ServicePort{Name: "https", Port: 443})))
	return "proxy"
}

// ingressController configures a proxy for the Ingresses of one class, and sets the address of the proxy in their status. It
// replaces the Ingress controller of a cluster. Like those, it routes to pods and not to the Service.
type ingressController struct {
	n            *framework.Namespace
	class, proxy string
	address      string
	ingresses    networkinglisters.IngressNamespaceLister
	// routes is nil in a cluster that does not serve HTTPRoutes.
	routes    gatewaylisters.HTTPRouteNamespaceLister
	backends  *backends
	factories []informerFactory
	informers []cache.SharedIndexInformer
	changed   chan struct{}
	shell     *proxyShell
	// loaded has what the proxy has loaded, nil for nothing.
	loaded  atomic.Pointer[nginx]
	reloads atomic.Int32
	// changedAt is when the first change occurred that the proxy has not loaded.
	mu        sync.Mutex
	changedAt time.Time
	// slowest is the longest time in which the proxy has loaded a change since takeSlowest.
	slowest time.Duration
}

// informerFactory starts and stops informers.
type informerFactory interface {
	Start(stop <-chan struct{})
	Shutdown()
}

// startIngressController starts a controller that runs until the test ends.
func startIngressController(n *framework.Namespace, class, proxy string) *ingressController {
	n.T.Helper()
	c := newIngressController(n, class, proxy)
	c.start()
	return c
}

func newIngressController(n *framework.Namespace, class, proxy string) *ingressController {
	n.T.Helper()
	address, _, err := net.SplitHostPort(nodePortAddress(n, proxy, 80))
	if err != nil {
		n.T.Fatal(err)
	}
	factory := informers.NewSharedInformerFactoryWithOptions(n.ControlPlane.KubeClient, 0, informers.WithNamespace(n.Name))
	ingresses, services := factory.Networking().V1().Ingresses(), factory.Core().V1().Services()
	slices, secrets := factory.Discovery().V1().EndpointSlices(), factory.Core().V1().Secrets()
	return &ingressController{
		n: n, class: class, proxy: proxy, address: address,
		ingresses: ingresses.Lister().Ingresses(n.Name),
		backends: &backends{
			services: services.Lister().Services(n.Name),
			slices:   slices.Lister().EndpointSlices(n.Name),
			secrets:  secrets.Lister().Secrets(n.Name),
		},
		changed:   make(chan struct{}, 1),
		factories: []informerFactory{factory},
		informers: []cache.SharedIndexInformer{ingresses.Informer(), services.Informer(), slices.Informer(), secrets.Informer()},
	}
}

// start starts the controller, which runs until the test ends.
func (c *ingressController) start() {
	c.n.T.Helper()
	var haveSynced []cache.InformerSynced
	for _, informer := range c.informers {
		if _, err := informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
			AddFunc:    func(any) { c.enqueue() },
			UpdateFunc: func(any, any) { c.enqueue() },
			DeleteFunc: func(any) { c.enqueue() },
		}); err != nil {
			c.n.T.Fatal(err)
		}
		haveSynced = append(haveSynced, informer.HasSynced)
	}
	for _, factory := range c.factories {
		factory.Start(c.n.Ctx.Done())
	}
	cache.WaitForCacheSync(c.n.Ctx.Done(), haveSynced...)
	var worker sync.WaitGroup
	worker.Go(c.work)
	c.n.T.Cleanup(func() {
		worker.Wait()
		for _, factory := range c.factories {
			factory.Shutdown()
		}
	})
}

// enqueue enqueues a sync of everything. One sync is enough for all changes until it begins.
func (c *ingressController) enqueue() {
	c.mu.Lock()
	if c.changedAt.IsZero() {
		c.changedAt = time.Now()
	}
	c.mu.Unlock()
	select {
	case c.changed <- struct{}{}:
	default:
	}
}

func (c *ingressController) work() {
	for {
		select {
		case <-c.n.Ctx.Done():
			return
		case <-c.changed:
		}
		c.mu.Lock()
		changedAt := c.changedAt
		c.changedAt = time.Time{}
		c.mu.Unlock()
		if err := c.sync(); err != nil && c.n.Ctx.Err() == nil {
			c.n.T.Logf("ingress controller: %v", err)
			time.AfterFunc(ingressRetryPeriod, c.enqueue)
		}
		if !changedAt.IsZero() { // The last sync has loaded the change otherwise.
			c.mu.Lock()
			c.slowest = max(c.slowest, time.Since(changedAt))
			c.mu.Unlock()
		}
	}
}

// takeSlowest returns the longest time from a change to when the proxy has loaded it, since the last call. Pods that stop can lose
// requests if it is longer than they wait.
func (c *ingressController) takeSlowest() time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	slowest := c.slowest
	c.slowest = 0
	return slowest
}

func (c *ingressController) sync() error {
	all, err := c.ingresses.List(labels.Everything())
	if err != nil {
		return err
	}
	var ingresses []*networkingv1.Ingress
	for _, ingress := range all {
		if ptr.Deref(ingress.Spec.IngressClassName, "") == c.class {
			ingresses = append(ingresses, ingress)
		}
	}
	routes, err := c.listRoutes()
	if err != nil {
		return err
	}
	if err := c.load(ingresses, routes); err != nil {
		return err
	}
	for _, ingress := range ingresses {
		if err := c.publishAddress(ingress); err != nil {
			return err
		}
	}
	return nil
}

func (c *ingressController) load(ingresses []*networkingv1.Ingress, routes []*gatewayv1.HTTPRoute) error {
	nginx, err := newNginx(ingresses, routes, c.backends)
	if err != nil || equality.Semantic.DeepEqual(nginx, c.loaded.Load()) {
		return err
	}
	configuration, err := nginx.configuration()
	if err != nil {
		return err
	}
	if c.shell == nil {
		if c.shell, err = startProxyShell(c.n, c.proxy); err != nil {
			return err
		}
	}
	if err := c.shell.load(configuration); err != nil {
		c.shell = nil
		return fmt.Errorf("loading the configuration of the proxy: %w", err)
	}
	c.loaded.Store(nginx)
	c.reloads.Add(1)
	return nil
}

func (c *ingressController) publishAddress(ingress *networkingv1.Ingress) error {
	status := networkingv1.IngressStatus{LoadBalancer: networkingv1.IngressLoadBalancerStatus{
		Ingress: []networkingv1.IngressLoadBalancerIngress{{IP: c.address}},
	}}
	if equality.Semantic.DeepEqual(status, ingress.Status) {
		return nil
	}
	ingress = ingress.DeepCopy()
	ingress.Status = status
	_, err := c.n.Ingresses().UpdateStatus(c.n.Ctx, ingress, metav1.UpdateOptions{FieldManager: "ingress-controller"})
	return err
}
