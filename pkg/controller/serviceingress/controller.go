// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

// Package serviceingress keeps the Ingress of every Service that asks for one by its annotations.
package serviceingress

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	coreinformers "k8s.io/client-go/informers/core/v1"
	networkinginformers "k8s.io/client-go/informers/networking/v1"
	"k8s.io/client-go/kubernetes"
	corelisters "k8s.io/client-go/listers/core/v1"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/events"
	"k8s.io/utils/clock"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/apply"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/cachehealth"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/children"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/consistency"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/informers"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/reconciler"
	modelinformers "github.com/sharelinuxs/modelbox-apiserver/pkg/generated/informers/externalversions/model/v1"
	modellisters "github.com/sharelinuxs/modelbox-apiserver/pkg/generated/listers/model/v1"
	serviceingressrender "github.com/sharelinuxs/modelbox-apiserver/pkg/render/serviceingress"
)

const (
	// Name is the name of the controller, in --controllers and in the names of its metrics and health check.
	Name = "serviceingress"
	// noun is what messages call a Service.
	noun = "Service"

	// concurrentSyncs is how many Services are reconciled at the same time, at most half of them from one namespace.
	concurrentSyncs = 8
)

// Controller reconciles the Ingresses of Services.
type Controller struct {
	*reconciler.For[*corev1.Service, corev1.ServiceStatus]

	kubeClient    kubernetes.Interface
	serviceLister corelisters.ServiceLister
	boxLister     modellisters.ModelBoxLister
	ingresses     *children.Kind
	children      *children.Engine[*corev1.Service]
	defaults      serviceingressrender.Defaults
	problems      *reconciler.Memory[reportedProblem]
}

// ControllerParameters is what a Controller is made of. None of the informers may be started yet.
type ControllerParameters struct {
	// KubeClient reads Services and writes Ingresses.
	KubeClient kubernetes.Interface

	// Services are all that there are. Of those that are not annotated, no more is needed than what identifies them.
	Services coreinformers.ServiceInformer
	// Ingresses are those that this server has made.
	Ingresses networkinginformers.IngressInformer
	Boxes     modelinformers.ModelBoxInformer
	// CacheHealth checks the caches of these informers.
	CacheHealth *cachehealth.Monitor

	Recorder events.EventRecorder
	Clock    clock.PassiveClock

	// Defaults are for Services whose annotations do not say otherwise.
	Defaults serviceingressrender.Defaults
}

// New returns a controller that does nothing until Run.
func New(p ControllerParameters) (*Controller, error) {
	c := &Controller{
		kubeClient:    p.KubeClient,
		serviceLister: p.Services.Lister(),
		boxLister:     p.Boxes.Lister(),
		ingresses:     newIngressKind(p.KubeClient, p.Ingresses.Informer()),
		defaults:      p.Defaults,
		problems:      reconciler.NewMemory[reportedProblem](),
	}
	c.For = reconciler.New(reconciler.Config[*corev1.Service, corev1.ServiceStatus]{
		Controller:      Name,
		Noun:            noun,
		Resource:        corev1.Resource("services"),
		ConcurrentSyncs: concurrentSyncs,
		CacheHealth:     p.CacheHealth,
		Consistency: consistency.NewStore(p.Clock, map[schema.GroupResource]consistency.LastSyncRVGetter{
			c.ingresses.Resource: c.ingresses.Informer.GetStore(),
		}),
		Metrics:  processMetrics(),
		Recorder: p.Recorder,
		Clock:    p.Clock,

		Get: func(namespace, name string) (*corev1.Service, error) {
			return c.serviceLister.Services(namespace).Get(name)
		},
		Reconcile:      c.reconcile,
		ForgetChildren: c.forget,
		RecordPanic:    c.recordPanic,
		Wait:           func() { c.children.Wait() },
	})
	c.children = c.newEngine()
	if err := c.watch(&p); err != nil {
		return nil, err
	}
	return c, nil
}

// watch enqueues a Service that is or was annotated whenever it changes, and whenever its Ingress does, or the box that has
// an Ingress of the name.
func (c *Controller) watch(p *ControllerParameters) error {
	for _, watched := range []struct {
		resource  schema.GroupResource
		informer  cache.SharedIndexInformer
		serviceOf func(metav1.Object) (types.NamespacedName, bool)
	}{
		{c.Resource, p.Services.Informer(), annotatedService},
		{c.ingresses.Resource, c.ingresses.Informer, c.children.OwnerOf},
		{modelv1.Resource("modelboxes"), p.Boxes.Informer(), serviceOfBox},
	} {
		if err := c.Watch(watched.resource, c.Caches.AddRequired, watched.informer, c.Queue.Handler(watched.serviceOf)); err != nil {
			return err
		}
	}
	for name, index := range c.children.Indexers() {
		if err := informers.AddIndex(c.ingresses.Informer, name, index); err != nil {
			return fmt.Errorf("indexing %s: %w", c.ingresses.Resource, err)
		}
	}
	return nil
}

func annotatedService(service metav1.Object) (types.NamespacedName, bool) {
	return apply.KeyOf(service), serviceingressrender.IsAnnotated(service)
}

// serviceOfBox returns the Service of a box that has an Ingress. It has the name of the box.
func serviceOfBox(object metav1.Object) (types.NamespacedName, bool) {
	box, ok := object.(*modelv1.ModelBox)
	return apply.KeyOf(object), ok && box.Spec.Ingress != nil
}
