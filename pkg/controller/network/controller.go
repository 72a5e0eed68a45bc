// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

// Package network keeps the NetworkAttachmentDefinition of every Network as the network says, where the cluster serves that
// kind, and the status of the network as its boxes and their pods use it.
package network

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	coreinformers "k8s.io/client-go/informers/core/v1"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/events"
	"k8s.io/utils/clock"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/cachehealth"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/children"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/consistency"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/informers"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/reconciler"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/generated/clientset/versioned"
	modelinformers "github.com/sharelinuxs/modelbox-apiserver/pkg/generated/informers/externalversions/model/v1"
	modellisters "github.com/sharelinuxs/modelbox-apiserver/pkg/generated/listers/model/v1"
)

const (
	// Name is the name of the controller, in --controllers and in the names of its metrics and health check.
	Name = "network"
	// noun is what messages call a network.
	noun = "network"

	// concurrentSyncs is how many networks are reconciled at the same time, at most half of them from one namespace.
	concurrentSyncs = 4
)

var (
	networkResource = modelv1.Resource("networks")
	boxResource     = modelv1.Resource("modelboxes")
)

// Controller reconciles Networks.
type Controller struct {
	*reconciler.For[*modelv1.Network, modelv1.NetworkStatus]

	modelClient   versioned.Interface
	networkLister modellisters.NetworkLister
	boxes         cache.Indexer
	pods          cache.Indexer
	definitions   *children.Kind
	children      *children.Engine[*modelv1.Network]
}

// ControllerParameters is what a Controller is made of. None of the informers may be started yet.
type ControllerParameters struct {
	// ModelClient reads and writes networks, and DynamicClient their NetworkAttachmentDefinitions.
	ModelClient   versioned.Interface
	DynamicClient dynamic.Interface

	Networks    modelinformers.NetworkInformer
	Boxes       modelinformers.ModelBoxInformer
	Pods        coreinformers.PodInformer
	Definitions *informers.Optional
	// CacheHealth checks the caches of these informers.
	CacheHealth *cachehealth.Monitor

	Recorder events.EventRecorder
	Clock    clock.PassiveClock
}

// New returns a controller that does nothing until Run.
func New(p ControllerParameters) (*Controller, error) {
	c := &Controller{
		modelClient:   p.ModelClient,
		networkLister: p.Networks.Lister(),
		boxes:         p.Boxes.Informer().GetIndexer(),
		pods:          p.Pods.Informer().GetIndexer(),
		definitions:   definitionKind(p.DynamicClient, p.Definitions),
	}
	c.For = reconciler.New(reconciler.Config[*modelv1.Network, modelv1.NetworkStatus]{
		Controller:      Name,
		Noun:            noun,
		Resource:        networkResource,
		ConcurrentSyncs: concurrentSyncs,
		CacheHealth:     p.CacheHealth,
		Consistency: consistency.NewStore(p.Clock, map[schema.GroupResource]consistency.LastSyncRVGetter{
			networkResource:        p.Networks.Informer().GetStore(),
			c.definitions.Resource: c.definitions.Informer.GetStore(),
		}),
		Metrics:  processMetrics(),
		Recorder: p.Recorder,
		Clock:    p.Clock,

		Get: func(namespace, name string) (*modelv1.Network, error) {
			return c.networkLister.Networks(namespace).Get(name)
		},
		Client: func(namespace string) reconciler.Client[*modelv1.Network] {
			return c.modelClient.ModelV1().Networks(namespace)
		},
		Status: &reconciler.Status[*modelv1.Network, modelv1.NetworkStatus]{
			List: c.networkLister.List,
			Of:   func(network *modelv1.Network) *modelv1.NetworkStatus { return &network.Status },
			Parts: func(status *modelv1.NetworkStatus) (*int64, *[]metav1.Condition) {
				return &status.ObservedGeneration, &status.Conditions
			},
			IsMereProgress: isMereProgress,
			Written:        c.recordTransitions,
			NotReadyReason: modelv1.ReasonError,
		},
		Reconcile:         c.reconcile,
		ReconcileDeletion: c.reconcileDeletion,
		ForgetChildren:    func(key types.NamespacedName) { c.children.Forget(key) },
		Wait:              func() { c.children.Wait() },
	})
	var err error
	if c.children, err = c.newEngine(); err != nil {
		return nil, err
	}
	return c, c.watch(&p)
}

// watch enqueues a network whenever it, its NetworkAttachmentDefinition, one of its boxes or the addresses of one of their pods
// change. NetworkAttachmentDefinitions are optional: a server that may not list them still reports which boxes use a network.
func (c *Controller) watch(p *ControllerParameters) error {
	for _, watched := range []struct {
		resource schema.GroupResource
		dependOn reconciler.DependFunc
		informer cache.SharedIndexInformer
		handler  cache.ResourceEventHandler
	}{
		{networkResource, c.Caches.AddRequired, p.Networks.Informer(), c.Queue.Handler(reconciler.Key)},
		{boxResource, c.Caches.AddRequired, p.Boxes.Informer(), c.Queue.HandlerOfAll(networksOf)},
		{corev1.Resource("pods"), c.Caches.AddRequired, p.Pods.Informer(), c.Queue.HandlerOfAll(networksOf)},
		{c.definitions.Resource, c.Caches.AddOptional, c.definitions.Informer, c.Queue.Handler(c.children.OwnerOf)},
	} {
		if err := c.Watch(watched.resource, watched.dependOn, watched.informer, watched.handler); err != nil {
			return err
		}
	}
	for name, index := range c.children.Indexers() {
		if err := informers.AddIndex(c.definitions.Informer, name, index); err != nil {
			return fmt.Errorf("indexing %s: %w", c.definitions.Resource, err)
		}
	}
	for _, informer := range []cache.SharedIndexInformer{p.Boxes.Informer(), p.Pods.Informer()} {
		if err := informers.AddIndex(informer, byNetwork, indexByNetwork); err != nil {
			return fmt.Errorf("indexing what uses networks: %w", err)
		}
	}
	return nil
}
