// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

// Package modelbox keeps the children of every ModelBox as the box says, and its status as the children are.
package modelbox

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/events"
	"k8s.io/klog/v2"
	"k8s.io/utils/clock"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/children"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/consistency"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/generated/clientset/versioned"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/generated/clientset/versioned/scheme"
	boxinformers "github.com/sharelinuxs/modelbox-apiserver/pkg/generated/informers/externalversions"
	modellisters "github.com/sharelinuxs/modelbox-apiserver/pkg/generated/listers/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/render"
)

const (
	controllerName = "modelbox"

	// staleCacheRetry is how soon a box is looked at again whose own last write is not in the cache yet.
	staleCacheRetry = 50 * time.Millisecond
)

// Controller reconciles ModelBoxes.
type Controller struct {
	modelClient versioned.Interface
	boxLister   modellisters.ModelBoxLister
	kinds       []*children.Kind
	children    *children.Engine[*modelv1.ModelBox]
	pods        cache.Indexer
	autoscalers cache.Indexer
	mounts      cache.Indexer
	queue       *boxQueue
	events      events.EventBroadcaster
	recorder    events.EventRecorderLogger
	clock       clock.PassiveClock
	consistency *consistency.Store
	pace        *statusPace
	rollouts    *rolloutRecord
	// unrecorded are the boxes that were told to be too large for a record.
	unrecorded sync.Map
	metrics    *controllerMetrics

	startInformers func(ctx context.Context)
	stopInformers  func()
	caches         []*cacheHealth
}

// New returns a controller that reads boxes through the one client and writes their children through the other.
// Every resyncPeriod it looks at every box although nothing happened, which costs no request. It does nothing until Run.
func New(ctx context.Context, boxes versioned.Interface, cluster kubernetes.Interface, resyncPeriod time.Duration) (*Controller, error) {
	boxFactory := boxinformers.NewSharedInformerFactoryWithOptions(boxes, resyncPeriod, boxinformers.WithTransform(dropManagedFields))
	childFactory := informers.NewSharedInformerFactoryWithOptions(cluster, 0,
		informers.WithTransform(trimForCache),
		informers.WithTweakListOptions(func(options *metav1.ListOptions) {
			options.LabelSelector = render.ManagedByLabel + "=" + render.ManagedBy
		}))
	// An overlay can change every other label of pods, as users of Helm do with that of childFactory.
	podFactory := informers.NewSharedInformerFactoryWithOptions(cluster, 0,
		informers.WithTransform(trimForCache),
		informers.WithTweakListOptions(func(options *metav1.ListOptions) { options.LabelSelector = modelv1.SelectorLabel }))
	autoscalerFactory := informers.NewSharedInformerFactoryWithOptions(cluster, 0, informers.WithTransform(trimForCache))
	mountFailureFactory := newMountFailureFactory(cluster)
	boxInformer := boxFactory.Model().V1().ModelBoxes()
	podInformer := podFactory.Core().V1().Pods().Informer()
	autoscalerInformer := autoscalerFactory.Autoscaling().V2().HorizontalPodAutoscalers().Informer()
	mountFailureInformer := mountFailureFactory.Events().V1().Events().Informer()
	broadcaster := events.NewBroadcaster(&leaderSink{&events.EventSinkImpl{Interface: cluster.EventsV1()}})
	now := clock.RealClock{}

	c := &Controller{
		modelClient: boxes,
		boxLister:   boxInformer.Lister(),
		pods:        podInformer.GetIndexer(),
		autoscalers: autoscalerInformer.GetIndexer(),
		mounts:      mountFailureInformer.GetIndexer(),
		queue:       newBoxQueue(newDeadlineQueue(now)),
		events:      broadcaster,
		recorder:    broadcaster.NewRecorder(scheme.Scheme, render.EventReporter),
		clock:       now,
		pace:        newStatusPace(now),
		rollouts:    newRolloutRecord(),
		metrics:     processMetrics(),
		startInformers: func(ctx context.Context) {
			boxFactory.StartWithContext(ctx)
			childFactory.StartWithContext(ctx)
			podFactory.StartWithContext(ctx)
			autoscalerFactory.StartWithContext(ctx)
			mountFailureFactory.StartWithContext(ctx)
		},
		stopInformers: func() {
			boxFactory.Shutdown()
			childFactory.Shutdown()
			podFactory.Shutdown()
			autoscalerFactory.Shutdown()
			mountFailureFactory.Shutdown()
		},
	}
	c.kinds = []*children.Kind{
		c.deploymentKind(cluster, childFactory.Apps().V1().Deployments().Informer()),
		serviceKind(cluster, childFactory.Core().V1().Services().Informer()),
	}
	c.consistency = newConsistencyStore(now, boxInformer.Informer(), c.kinds)
	c.children = c.newEngine()
	if err := c.watch(boxInformer.Informer(), podInformer, autoscalerInformer); err != nil {
		return nil, err
	}
	if err := c.watchMountFailures(mountFailureInformer); err != nil {
		return nil, err
	}
	return c, nil
}

// watch puts a box on the queue whenever it, one of its children or pods, or an autoscaler of its Deployment changes.
func (c *Controller) watch(boxes, pods, autoscalers cache.SharedIndexInformer) error {
	if err := c.enqueueOn(boxResource, required, boxes, boxKey); err != nil {
		return err
	}
	for _, kind := range c.kinds {
		if err := kind.Informer.AddIndexers(c.children.Indexers()); err != nil {
			return fmt.Errorf("indexing %s: %w", kind.Resource, err)
		}
		if err := c.enqueueOn(kind.Resource, required, kind.Informer, c.children.OwnerOf); err != nil {
			return err
		}
	}
	if err := pods.AddIndexers(cache.Indexers{byBox: indexBy(podBoxKey)}); err != nil {
		return fmt.Errorf("indexing pods: %w", err)
	}
	if err := c.enqueueOn(corev1.Resource("pods"), required, pods, podBoxKey); err != nil {
		return err
	}
	if err := autoscalers.AddIndexers(cache.Indexers{byDeployment: indexBy(scaledDeployment)}); err != nil {
		return fmt.Errorf("indexing autoscalers: %w", err)
	}
	return c.enqueueOn(autoscalingv2.Resource("horizontalpodautoscalers"), optional, autoscalers, scaledDeployment)
}

// indexBy indexes objects by what key makes of each; one for which it returns false is not in the index.
func indexBy(key func(metav1.Object) (types.NamespacedName, bool)) cache.IndexFunc {
	return func(obj any) ([]string, error) {
		object, ok := obj.(metav1.Object)
		if !ok {
			return nil, fmt.Errorf("expected an object with metadata, got %T", obj)
		}
		if name, ok := key(object); ok {
			return []string{name.String()}, nil
		}
		return nil, nil
	}
}

// enqueueOn puts on the queue what owner makes of each object that the informer reports; nothing where it
// returns false.
func (c *Controller) enqueueOn(resource schema.GroupResource, isRequired bool, informer cache.SharedIndexInformer, owner func(metav1.Object) (types.NamespacedName, bool)) error {
	registration, err := informer.AddEventHandler(c.enqueueOwners(owner))
	if err != nil {
		return fmt.Errorf("watching %s: %w", resource, err)
	}
	return c.watchHealth(resource, isRequired, informer, registration.HasSynced)
}

// Without the objects of an optional informer boxes are kept all the same: without events, their status does not say of
// mounts why they fail, and without autoscalers, a box whose Deployment gets its first one puts back the number of pods
// until it gives way to it. One that an autoscaler had before stays with it.
const required, optional = true, false

// Run reconciles with that many workers until ctx is done, of which those of one namespace hold at most half. When it
// returns, the last write is done. It returns an error, before ctx is done, when it cannot work: ErrCacheNotSynced when
// another server may be able to.
func (c *Controller) Run(ctx context.Context, workers int) error {
	defer utilruntime.HandleCrashWithContext(ctx)
	defer c.queue.ShutDown()
	logger := klog.FromContext(ctx).WithName(controllerName)
	ctx = klog.NewContext(ctx, logger)

	if err := c.events.StartRecordingToSinkWithContext(ctx); err != nil {
		return fmt.Errorf("starting to record events: %w", err)
	}
	defer c.events.Shutdown()

	ctx, giveUp := context.WithCancelCause(ctx)
	c.startInformers(ctx)
	defer c.stopInformers()
	var watching sync.WaitGroup
	defer watching.Wait()
	defer giveUp(nil)
	watching.Go(func() { c.watchCaches(ctx, giveUp) })
	if !c.waitForCaches(ctx) {
		return unableToWork(ctx)
	}
	c.metrics.boxes.show(c.boxLister)
	defer c.metrics.boxes.hide()
	c.queue.order.limit(workers / 2)
	logger.Info("Reconciling", "workers", workers)

	var running sync.WaitGroup
	for range workers {
		running.Go(func() {
			for c.reconcileNext(ctx) {
			}
		})
	}
	<-ctx.Done()
	c.queue.ShutDown()
	running.Wait()
	c.children.Wait()
	logger.Info("Stopped reconciling")
	return unableToWork(ctx)
}

// unableToWork returns why the controller itself ended its context, nil where somebody else did.
func unableToWork(ctx context.Context) error {
	if cause := context.Cause(ctx); errors.Is(cause, ErrCacheNotSynced) {
		return cause
	}
	return nil
}

// reconcileNext returns false when the queue is shut down.
func (c *Controller) reconcileNext(ctx context.Context) bool {
	key, shutdown := c.queue.Get()
	if shutdown {
		return false
	}
	defer c.queue.Done(key)
	if ctx.Err() != nil {
		return true
	}

	logger := klog.FromContext(ctx).WithValues("box", key)
	begin := time.Now()
	again, err := c.reconcileSafely(klog.NewContext(ctx, logger), key)
	c.metrics.reconciled(begin, again, err)
	switch {
	case err != nil && ctx.Err() == nil:
		if !children.IsExpected(err) {
			logger.Error(err, "Reconciling failed, will be tried again", "failures", c.queue.NumRequeues(key)+1)
		}
		c.queue.AddRateLimited(key)
	default:
		c.queue.Forget(key)
	}
	if again > 0 {
		c.queue.AddAfter(key, again)
	}
	return true
}

func keyOf(box metav1.Object) types.NamespacedName {
	return types.NamespacedName{Namespace: box.GetNamespace(), Name: box.GetName()}
}

func boxKey(box metav1.Object) (types.NamespacedName, bool) {
	return keyOf(box), true
}

// newConsistencyStore returns a store that waits for the caches of boxes and of their children.
func newConsistencyStore(clock clock.PassiveClock, boxes cache.SharedIndexInformer, kinds []*children.Kind) *consistency.Store {
	caches := map[schema.GroupResource]consistency.LastSyncRVGetter{boxResource: boxes.GetStore()}
	for _, kind := range kinds {
		caches[kind.Resource] = kind.Informer.GetStore()
	}
	return consistency.NewStore(clock, caches)
}

var boxResource = modelv1.Resource("modelboxes")
