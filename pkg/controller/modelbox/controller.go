// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

// Package modelbox keeps the children of every ModelBox as the box says, and its status as the children are.
package modelbox

import (
	"fmt"
	"slices"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	kubeinformers "k8s.io/client-go/informers"
	autoscalinginformers "k8s.io/client-go/informers/autoscaling/v2"
	coreinformers "k8s.io/client-go/informers/core/v1"
	eventsinformers "k8s.io/client-go/informers/events/v1"
	networkinginformers "k8s.io/client-go/informers/networking/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/events"
	"k8s.io/utils/clock"
	gatewayclient "sigs.k8s.io/gateway-api/pkg/client/clientset/versioned"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/childkinds"
	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	modelboxapply "github.com/sharelinuxs/modelbox-apiserver/pkg/apply/modelbox"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/autoscaling"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/cachehealth"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/children"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/consistency"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/informers"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/modelbox/cronjobs"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/modelbox/kinds"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/modelbox/resizes"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/modelbox/rollouts"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/modelbox/status"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/modelbox/storage"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/reconciler"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/generated/clientset/versioned"
	modelinformers "github.com/sharelinuxs/modelbox-apiserver/pkg/generated/informers/externalversions/model/v1"
	modellisters "github.com/sharelinuxs/modelbox-apiserver/pkg/generated/listers/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/hostcluster"
)

const (
	// Name is the name of the controller, in --controllers and in the names of its metrics and health check.
	Name = "modelbox"
	// noun is what messages call a box.
	noun = "box"
)

// Controller reconciles ModelBoxes.
type Controller struct {
	*reconciler.For[*modelv1.ModelBox, modelv1.ModelBoxStatus]

	modelClient    versioned.Interface
	kubeClient     kubernetes.Interface
	boxLister      modellisters.ModelBoxLister
	kinds          []*children.Kind
	children       *children.Engine[*modelv1.ModelBox]
	storage        *storage.Reconciler
	ingresses      cache.Indexer
	jobs           cache.Indexer
	cronJobs       *cronjobs.Runner
	ingressClasses cache.SharedIndexInformer
	pods           cache.Indexer
	autoscalers    cache.Indexer
	mountEvents    cache.Indexer
	creationEvents cache.Indexer
	rollouts       *rollouts.Reconciler
	resizes        *resizes.Reconciler
	liveness       *reconciler.Memory[livenessAnswers]
	// unrecorded are the boxes that were reported to be too large for a record.
	unrecorded *reconciler.Memory[bool]
	metrics    *controllerMetrics
}

// ControllerParameters is what a Controller is made of. None of the informers may be started yet.
type ControllerParameters struct {
	// ModelClient reads and writes boxes, KubeClient their children, and GatewayClient their routes.
	ModelClient   versioned.Interface
	KubeClient    kubernetes.Interface
	GatewayClient gatewayclient.Interface

	Boxes modelinformers.ModelBoxInformer
	// Children caches the children and the Jobs of boxes.
	Children       kubeinformers.SharedInformerFactory
	Pods           coreinformers.PodInformer
	IngressClasses networkinginformers.IngressClassInformer
	// Autoscalers are all autoscalers, including the autoscalers of users.
	Autoscalers autoscalinginformers.HorizontalPodAutoscalerInformer
	// HostCluster knows which fields of children the cluster knows. Nil: it is taken to know all.
	HostCluster *hostcluster.Cluster
	// Routes are the informers that kinds.NewRouteInformers returns.
	Routes *kinds.RouteInformers
	// MountFailures are the events about pods that cannot have a volume.
	MountFailures eventsinformers.EventInformer
	// CreationFailures are the events about workloads that cannot create pods.
	CreationFailures eventsinformers.EventInformer
	// Prometheus is what the checks of rollouts query, nil for nothing.
	Prometheus rollouts.Prometheus
	// CacheHealth checks the caches of these informers.
	CacheHealth *cachehealth.Monitor

	Recorder events.EventRecorder
	Clock    clock.PassiveClock

	// ConcurrentSyncs is how many boxes are reconciled at the same time, at most half of them, and at least one, from one
	// namespace.
	ConcurrentSyncs int
}

// New returns a controller that does nothing until Run.
func New(p ControllerParameters) (*Controller, error) {
	c := &Controller{
		modelClient:    p.ModelClient,
		kubeClient:     p.KubeClient,
		boxLister:      p.Boxes.Lister(),
		ingressClasses: p.IngressClasses.Informer(),
		pods:           p.Pods.Informer().GetIndexer(),
		autoscalers:    p.Autoscalers.Informer().GetIndexer(),
		mountEvents:    p.MountFailures.Informer().GetIndexer(),
		creationEvents: p.CreationFailures.Informer().GetIndexer(),
		liveness:       reconciler.NewMemory[livenessAnswers](),
		unrecorded:     reconciler.NewMemory[bool](),
		metrics:        processMetrics(),
	}
	c.kinds = kinds.New(kinds.Sources{
		KubeClient:    p.KubeClient,
		GatewayClient: p.GatewayClient,
		Children:      p.Children,
		Routes:        p.Routes,
		Pods:          c.pods,
	})
	c.ingresses = c.kind(childkinds.Ingress).Informer.GetIndexer()
	c.jobs = c.kind(childkinds.Job).Informer.GetIndexer()
	if p.HostCluster != nil {
		for _, kind := range c.kinds {
			kind.Known = p.HostCluster.Known
		}
	}
	c.For = reconciler.New(reconciler.Config[*modelv1.ModelBox, modelv1.ModelBoxStatus]{
		Controller:      Name,
		Noun:            noun,
		Resource:        boxResource,
		ConcurrentSyncs: p.ConcurrentSyncs,
		CacheHealth:     p.CacheHealth,
		Consistency:     newConsistencyStore(p.Clock, p.Boxes.Informer(), c.kinds),
		Metrics:         c.metrics.Metrics,
		Recorder:        p.Recorder,
		Clock:           p.Clock,

		Get: func(namespace, name string) (*modelv1.ModelBox, error) {
			return c.boxLister.ModelBoxes(namespace).Get(name)
		},
		Client: func(namespace string) reconciler.Client[*modelv1.ModelBox] {
			return c.modelClient.ModelV1().ModelBoxes(namespace)
		},
		Status: &reconciler.Status[*modelv1.ModelBox, modelv1.ModelBoxStatus]{
			List: c.boxLister.List,
			Of:   func(box *modelv1.ModelBox) *modelv1.ModelBoxStatus { return &box.Status },
			Parts: func(status *modelv1.ModelBoxStatus) (*int64, *[]metav1.Condition) {
				return &status.ObservedGeneration, &status.Conditions
			},
			IsMereProgress: status.IsMereProgress,
			Written:        c.recordTransitions,
			NotReadyReason: modelv1.ReasonNotApplied,
		},
		// The garbage collector deletes the children of a box that is being deleted, in the way its user asked for.
		Reconcile:      c.reconcile,
		Memories:       []reconciler.Forgetter{c.liveness, c.unrecorded},
		ForgetChildren: func(box types.NamespacedName) { c.children.Forget(box) },
		Wait:           func() { c.children.Wait() },
	})
	c.storage = storage.New(c.For, c.kubeClient, c.kind(childkinds.PersistentVolumeClaim).Informer.GetIndexer())
	if p.Prometheus != nil {
		p.Prometheus = &countingPrometheus{p.Prometheus, c.metrics.prometheusQueries}
	}
	c.rollouts = rollouts.New(c.For, c.kubeClient, c.kinds, c.jobs, p.Prometheus)
	c.resizes = resizes.New(c.For, c.kubeClient)
	c.cronJobs = cronjobs.New(c.For, c.kubeClient)
	c.kind(childkinds.Deployment).Written = c.rollouts.Record.Annotated
	c.setEngine(c.newEngine())
	if err := c.watch(&p); err != nil {
		return nil, err
	}
	return c, nil
}

// watch enqueues a box whenever it, one of its children or pods, an autoscaler of its workload or an event about
// pods that cannot have a volume or cannot be created changes.
//
// Of these, routes and events are optional: without routes, a box that has one is not Applied, without events, the status of a
// box does not say why mounts fail, nor why a StatefulSet or a DaemonSet has no pods.
func (c *Controller) watch(p *ControllerParameters) error {
	boxes := p.Boxes.Informer()
	if err := c.Watch(boxResource, c.Caches.AddRequired, boxes, c.Queue.Handler(reconciler.Key)); err != nil {
		return err
	}
	for _, kind := range c.kinds {
		owner := c.children.OwnerOf
		switch {
		case kind.Retention != nil:
			owner = kind.Retention.ClaimedFor
		case kind.GroupVersionKind == childkinds.Job.GroupVersionKind:
			owner = c.boxOfJob
		}
		dependOn := reconciler.DependFunc(c.Caches.AddRequired)
		// Without the permission for Jobs and CronJobs, only boxes with Jobs are not Applied.
		if kind.IsServed != nil || kind.GroupVersionKind.Group == batchv1.GroupName {
			dependOn = c.Caches.AddOptional
		}
		if err := c.Watch(kind.Resource, dependOn, kind.Informer, c.Queue.Handler(owner)); err != nil {
			return err
		}
	}
	if err := c.Caches.AddOptional(networkingv1.Resource("ingressclasses"), p.IngressClasses.Informer(), p.IngressClasses.Informer().HasSynced); err != nil {
		return err
	}
	if err := c.Watch(corev1.Resource("pods"), c.Caches.AddRequired, p.Pods.Informer(), c.Queue.Handler(kinds.PodBoxKey)); err != nil {
		return err
	}
	if err := c.Watch(autoscalingv2.Resource("horizontalpodautoscalers"), c.Caches.AddRequired, p.Autoscalers.Informer(), c.Queue.Handler(kinds.ScaledBox)); err != nil {
		return err
	}
	if err := c.Watch(eventsv1.Resource("events"), c.Caches.AddOptional, p.MountFailures.Informer(), c.Queue.Handler(c.boxOfPodEvent)); err != nil {
		return err
	}
	if err := c.Watch(eventsv1.Resource("events"), c.Caches.AddOptional, p.CreationFailures.Informer(), c.Queue.Handler(c.boxOfWorkloadEvent)); err != nil {
		return err
	}
	return c.addIndexes(p)
}

func (c *Controller) addIndexes(p *ControllerParameters) error {
	for _, kind := range c.kinds {
		for name, index := range c.children.Indexers() {
			if err := informers.AddIndex(kind.Informer, name, index); err != nil {
				return fmt.Errorf("indexing %s: %w", kind.Resource, err)
			}
		}
	}
	if err := informers.AddIndex(c.kind(childkinds.Ingress).Informer, kinds.ByClassWithAddress, kinds.ClassWithAddress); err != nil {
		return fmt.Errorf("indexing ingresses: %w", err)
	}
	if err := informers.AddIndex(c.kind(childkinds.PersistentVolumeClaim).Informer, kinds.ByBox, indexBy(modelboxapply.ClaimedFor)); err != nil {
		return fmt.Errorf("indexing claims: %w", err)
	}
	if err := informers.AddIndex(p.Pods.Informer(), kinds.ByBox, indexBy(kinds.PodBoxKey)); err != nil {
		return fmt.Errorf("indexing pods: %w", err)
	}
	if err := informers.AddIndex(c.kind(childkinds.Job).Informer, kinds.ByBox, indexBy(c.boxOfJob)); err != nil {
		return fmt.Errorf("indexing jobs: %w", err)
	}
	if err := informers.AddIndex(p.Autoscalers.Informer(), autoscaling.ByTarget, autoscaling.TargetKeys); err != nil {
		return fmt.Errorf("indexing autoscalers: %w", err)
	}
	for _, informer := range []cache.SharedIndexInformer{p.MountFailures.Informer(), p.CreationFailures.Informer()} {
		if err := informers.AddIndex(informer, byRegarding, regardingUIDs); err != nil {
			return fmt.Errorf("indexing events: %w", err)
		}
	}
	return nil
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

// kind returns the kind of children of a row of the table.
func (c *Controller) kind(row childkinds.Kind) *children.Kind {
	return c.kinds[slices.IndexFunc(c.kinds, func(kind *children.Kind) bool { return kind.GroupVersionKind == row.GroupVersionKind })]
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
