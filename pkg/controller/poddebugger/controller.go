// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

// Package poddebugger gives the pods that PodDebuggers select their ephemeral containers, and keeps the status of the PodDebuggers.
package poddebugger

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/events"
	"k8s.io/utils/clock"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/apply"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/cachehealth"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/consistency"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/reconciler"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/generated/clientset/versioned"
	modelinformers "github.com/sharelinuxs/modelbox-apiserver/pkg/generated/informers/externalversions/model/v1"
	modellisters "github.com/sharelinuxs/modelbox-apiserver/pkg/generated/listers/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/hostcluster/boxpods"
	poddebuggerrender "github.com/sharelinuxs/modelbox-apiserver/pkg/render/poddebugger"
)

const (
	// Name is the name of the controller, in --controllers and in the names of its metrics and health check.
	Name = "poddebugger"
	// noun is what messages call a PodDebugger.
	noun = "PodDebugger"

	// concurrentSyncs is how many PodDebuggers are reconciled at the same time. The PodDebuggers of one namespace take at most half
	// of it.
	concurrentSyncs = 4
)

var (
	debuggerResource = modelv1.Resource("poddebuggers")
	boxResource      = modelv1.Resource("modelboxes")
	podResource      = corev1.Resource("pods")
)

// Controller reconciles PodDebuggers.
type Controller struct {
	*reconciler.For[*modelv1.PodDebugger, modelv1.PodDebuggerStatus]

	modelClient    versioned.Interface
	kubeClient     kubernetes.Interface
	debuggerLister modellisters.PodDebuggerLister
	boxLister      modellisters.ModelBoxLister
	boxReader      *boxpods.Reader
	pods           *podCaches
	refusals       *refusalRecord
}

// ControllerParameters is what a Controller is made of. None of the informers may be started yet.
type ControllerParameters struct {
	// ModelClient reads and writes PodDebuggers and restarts boxes, and KubeClient reads pods and adds containers to them.
	ModelClient versioned.Interface
	KubeClient  kubernetes.Interface

	PodDebuggers modelinformers.PodDebuggerInformer
	Boxes        modelinformers.ModelBoxInformer
	// CacheHealth checks the caches of these informers.
	CacheHealth *cachehealth.Monitor

	Recorder events.EventRecorder
	Clock    clock.PassiveClock
}

// New returns a controller that does nothing until Run.
func New(p ControllerParameters) (*Controller, error) {
	c := &Controller{
		modelClient:    p.ModelClient,
		kubeClient:     p.KubeClient,
		debuggerLister: p.PodDebuggers.Lister(),
		boxLister:      p.Boxes.Lister(),
		boxReader:      boxpods.NewReader(p.KubeClient),
		refusals:       newRefusalRecord(p.Clock),
	}
	c.For = reconciler.New(reconciler.Config[*modelv1.PodDebugger, modelv1.PodDebuggerStatus]{
		Controller:      Name,
		Noun:            noun,
		Resource:        debuggerResource,
		ConcurrentSyncs: concurrentSyncs,
		CacheHealth:     p.CacheHealth,
		Consistency: consistency.NewStore(p.Clock, map[schema.GroupResource]consistency.LastSyncRVGetter{
			debuggerResource: p.PodDebuggers.Informer().GetStore(),
		}),
		Metrics:  processMetrics(),
		Recorder: p.Recorder,
		Clock:    p.Clock,

		Get: func(namespace, name string) (*modelv1.PodDebugger, error) {
			return c.debuggerLister.PodDebuggers(namespace).Get(name)
		},
		Client: func(namespace string) reconciler.Client[*modelv1.PodDebugger] {
			return c.modelClient.ModelV1().PodDebuggers(namespace)
		},
		Status: &reconciler.Status[*modelv1.PodDebugger, modelv1.PodDebuggerStatus]{
			List: c.debuggerLister.List,
			Of:   func(debugger *modelv1.PodDebugger) *modelv1.PodDebuggerStatus { return &debugger.Status },
			Parts: func(status *modelv1.PodDebuggerStatus) (*int64, *[]metav1.Condition) {
				return &status.ObservedGeneration, &status.Conditions
			},
			IsMereProgress: isMereProgress,
			Written:        c.recordTransitions,
			NotReadyReason: modelv1.ReasonError,
		},
		Reconcile:         c.reconcile,
		ReconcileDeletion: c.reconcile,
		ObserveDeletion:   c.releasePods,
		Memories:          []reconciler.Forgetter{c.refusals},
		Wait:              func() { c.pods.shutDown() },
	})
	c.pods = newPodCaches(p.KubeClient, p.Clock, c.Queue.HandlerOfAll(c.debuggersOf))
	return c, c.watch(&p)
}

// watch enqueues a PodDebugger whenever it changes. Its pods are watched as long as there is one in their namespace, and boxes are
// looked up where a pod may be theirs.
func (c *Controller) watch(p *ControllerParameters) error {
	if err := c.Watch(debuggerResource, c.Caches.AddRequired, p.PodDebuggers.Informer(), c.Queue.Handler(reconciler.Key)); err != nil {
		return err
	}
	return c.Watch(boxResource, c.Caches.AddRequired, p.Boxes.Informer(), cache.ResourceEventHandlerFuncs{})
}

// debuggersOf returns the PodDebuggers that select the pod, or whose container it has.
func (c *Controller) debuggersOf(object metav1.Object) []types.NamespacedName {
	pod, ok := object.(*corev1.Pod)
	if !ok {
		return nil
	}
	debuggers, err := c.debuggerLister.PodDebuggers(pod.Namespace).List(labels.Everything())
	if err != nil {
		return nil // the lister of a cache has no errors
	}
	var keys []types.NamespacedName
	for _, debugger := range debuggers {
		selector, err := metav1.LabelSelectorAsSelector(&debugger.Spec.Selector)
		if err == nil && selector.Matches(labels.Set(pod.Labels)) || hasContainer(pod, poddebuggerrender.ContainerName(debugger)) {
			keys = append(keys, apply.KeyOf(debugger))
		}
	}
	return keys
}
