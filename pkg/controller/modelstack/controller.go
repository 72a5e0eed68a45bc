// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

// Package modelstack keeps the boxes and Services of every ModelStack as the stack says, in the order of their dependencies,
// and its status as they are.
package modelstack

import (
	"context"
	"fmt"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	appsinformers "k8s.io/client-go/informers/apps/v1"
	autoscalinginformers "k8s.io/client-go/informers/autoscaling/v2"
	coreinformers "k8s.io/client-go/informers/core/v1"
	discoveryinformers "k8s.io/client-go/informers/discovery/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/events"
	"k8s.io/utils/clock"
	"k8s.io/utils/lru"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/autoscaling"
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
	Name = "modelstack"
	// noun is what messages call a stack.
	noun = "stack"

	// concurrentSyncs is how many stacks are reconciled at the same time, at most half of them from one namespace.
	concurrentSyncs = 8
)

var stackResource = modelv1.Resource("modelstacks")

// Controller reconciles ModelStacks.
type Controller struct {
	*reconciler.For[*modelv1.ModelStack, modelv1.ModelStackStatus]

	modelClient versioned.Interface
	kubeClient  kubernetes.Interface
	stackLister modellisters.ModelStackLister
	boxLister   modellisters.ModelBoxLister
	kinds       []*children.Kind
	children    *children.Engine[*modelv1.ModelStack]
	autoscalers cache.Indexer
	orphans     cache.Indexer
	graphs      *lru.Cache
	records     *lru.Cache
}

// ControllerParameters is what a Controller is made of. None of the informers may be started yet.
type ControllerParameters struct {
	// ModelClient reads and writes stacks and boxes, KubeClient what leads outside.
	ModelClient versioned.Interface
	KubeClient  kubernetes.Interface

	Stacks         modelinformers.ModelStackInformer
	Boxes          modelinformers.ModelBoxInformer
	Services       coreinformers.ServiceInformer
	EndpointSlices discoveryinformers.EndpointSliceInformer
	Records        appsinformers.ControllerRevisionInformer
	Autoscalers    autoscalinginformers.HorizontalPodAutoscalerInformer
	// CacheHealth checks the caches of these informers.
	CacheHealth *cachehealth.Monitor

	Recorder events.EventRecorder
	Clock    clock.PassiveClock
}

// New returns a controller that does nothing until Run.
func New(p ControllerParameters) (*Controller, error) {
	c := &Controller{
		modelClient: p.ModelClient,
		kubeClient:  p.KubeClient,
		stackLister: p.Stacks.Lister(),
		boxLister:   p.Boxes.Lister(),
		autoscalers: p.Autoscalers.Informer().GetIndexer(),
		orphans:     p.Records.Informer().GetIndexer(),
		graphs:      lru.New(maxGraphs),
		records:     lru.New(maxGraphs),
		kinds:       newKinds(&p),
	}
	caches := map[schema.GroupResource]consistency.LastSyncRVGetter{stackResource: p.Stacks.Informer().GetStore()}
	for _, kind := range c.kinds {
		caches[kind.Resource] = kind.Informer.GetStore()
	}
	c.For = reconciler.New(reconciler.Config[*modelv1.ModelStack, modelv1.ModelStackStatus]{
		Controller:      Name,
		Noun:            noun,
		Resource:        stackResource,
		ConcurrentSyncs: concurrentSyncs,
		CacheHealth:     p.CacheHealth,
		Consistency:     consistency.NewStore(p.Clock, caches),
		Metrics:         processMetrics(),
		Recorder:        p.Recorder,
		Clock:           p.Clock,

		Get: func(namespace, name string) (*modelv1.ModelStack, error) {
			return c.stackLister.ModelStacks(namespace).Get(name)
		},
		Client: func(namespace string) reconciler.Client[*modelv1.ModelStack] {
			return c.modelClient.ModelV1().ModelStacks(namespace)
		},
		Status: &reconciler.Status[*modelv1.ModelStack, modelv1.ModelStackStatus]{
			List: c.stackLister.List,
			Of:   func(stack *modelv1.ModelStack) *modelv1.ModelStackStatus { return &stack.Status },
			Parts: func(status *modelv1.ModelStackStatus) (*int64, *[]metav1.Condition) {
				return &status.ObservedGeneration, &status.Conditions
			},
			IsMereProgress: isMereProgress,
			Written:        c.recordTransitions,
			NotReadyReason: modelv1.ReasonNotApplied,
		},
		Reconcile:         c.reconcile,
		ReconcileDeletion: c.reconcileDeletion,
		ObserveDeletion: func(ctx context.Context, stack types.NamespacedName) error {
			return c.deleteOrphanedRecords(ctx, stack, "")
		},
		ForgetChildren: func(stack types.NamespacedName) { c.children.Forget(stack) },
		Wait:           func() { c.children.Wait() },
	})
	c.children = c.newEngine()
	if err := c.watch(&p); err != nil {
		return nil, err
	}
	return c, nil
}

// watch enqueues a stack whenever it, one of its children or an autoscaler of one of its boxes changes. Autoscalers are
// optional: without them, a box that gets its first one has its number of pods put back until the stack gives way to it.
func (c *Controller) watch(p *ControllerParameters) error {
	if err := c.Watch(stackResource, c.Caches.AddRequired, p.Stacks.Informer(), c.Queue.Handler(reconciler.Key)); err != nil {
		return err
	}
	if err := informers.AddIndex(p.Records.Informer(), byOrphan, orphanKeys); err != nil {
		return fmt.Errorf("indexing records: %w", err)
	}
	for _, kind := range c.kinds {
		if err := c.Watch(kind.Resource, c.Caches.AddRequired, kind.Informer, c.Queue.Handler(c.stackOfChild)); err != nil {
			return err
		}
		for name, index := range c.children.Indexers() {
			if err := informers.AddIndex(kind.Informer, name, index); err != nil {
				return fmt.Errorf("indexing %s: %w", kind.Resource, err)
			}
		}
	}
	if err := informers.AddIndex(p.Autoscalers.Informer(), autoscaling.ByTarget, autoscaling.TargetKeys); err != nil {
		return fmt.Errorf("indexing autoscalers: %w", err)
	}
	return c.Watch(autoscalingv2.Resource("horizontalpodautoscalers"), c.Caches.AddOptional, p.Autoscalers.Informer(), c.Queue.Handler(c.stackOfAutoscaler))
}

// stackOfChild returns the stack that a child is of, which a record is also when it has lost its owner.
func (c *Controller) stackOfChild(child metav1.Object) (types.NamespacedName, bool) {
	if stack, ok := c.children.OwnerOf(child); ok {
		return stack, true
	}
	return stackOfOrphan(child)
}
