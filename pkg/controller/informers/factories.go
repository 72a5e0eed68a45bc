// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

// Package informers has the shared informers of the controllers: one factory for each client and selector, so that
// nothing is listed, watched or kept twice however many controllers ask for it.
package informers

import (
	"context"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	kubeinformers "k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/cachehealth"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/generated/clientset/versioned"
	modelinformers "github.com/sharelinuxs/modelbox-apiserver/pkg/generated/informers/externalversions"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/render"
	modelstackrender "github.com/sharelinuxs/modelbox-apiserver/pkg/render/modelstack"
)

// FailedMount is the reason of the event that a kubelet records when a pod cannot have one of its volumes, such as a
// ConfigMap that there is not. The pod itself only says that it is being created.
const FailedMount = "FailedMount"

// FailedCreate is the reason of the event that a controller records when it cannot create a pod, or a claim for it, such as
// for the lack of quota. A StatefulSet and a DaemonSet themselves only say that they have fewer pods than they are to have.
const FailedCreate = "FailedCreate"

// Factories make shared informers. Start starts the informers that a controller has asked for. Their transforms remove fields from
// cached objects: see there before you use a field.
type Factories struct {
	// Model sees the objects of this server, without their managed fields. Of a box it keeps what tells whether it is as it was
	// written: it may be a child.
	Model modelinformers.SharedInformerFactory
	// Kube sees all objects of the cluster.
	Kube kubeinformers.SharedInformerFactory
	// Children caches the objects that the controllers of this server create, by their label.
	Children kubeinformers.SharedInformerFactory
	// Records caches the records of stacks. Other ControllerRevisions can have the label of Children: the revisions of the
	// StatefulSets and DaemonSets of boxes.
	Records kubeinformers.SharedInformerFactory
	// Pods caches the pods of boxes, by the label that selects them. An overlay can change every other label of pods, as users of
	// Helm do with the label of Children.
	Pods kubeinformers.SharedInformerFactory
	// MountFailures sees the events that say why pods wait for a volume, and no others: the API server leaves out the
	// rest, so that this costs next to nothing however many pods there are. To list a pod's events while it is being
	// created would cost a read of all events of its namespace for every pod that starts.
	MountFailures kubeinformers.SharedInformerFactory
	// CreationFailures sees the events that say why a workload has no pods, but for those about ReplicaSets and Jobs: a
	// Deployment has them in its status.
	CreationFailures kubeinformers.SharedInformerFactory

	// Health checks the caches between Start and Shutdown.
	Health *cachehealth.Monitor

	// optional are run beside the factories.
	optional []*Optional
	running  sync.WaitGroup
}

// NewFactories returns factories of informers for both clients, none of which is started. Every boxResync, boxes, stacks,
// networks and PodDebuggers are reported again although nothing happened. trimChild is what Children and Records keep.
func NewFactories(modelClient versioned.Interface, kubeClient kubernetes.Interface, boxResync time.Duration, trimChild cache.TransformFunc) *Factories {
	return &Factories{
		Model: modelinformers.NewSharedInformerFactoryWithOptions(modelClient, 0,
			modelinformers.WithTransform(trimModel),
			modelinformers.WithCustomResyncConfig(map[metav1.Object]time.Duration{
				&modelv1.ModelBox{}:    boxResync,
				&modelv1.ModelStack{}:  boxResync,
				&modelv1.Network{}:     boxResync,
				&modelv1.PodDebugger{}: boxResync,
			})),
		Kube: kubeinformers.NewSharedInformerFactoryWithOptions(kubeClient, 0, kubeinformers.WithTransform(trim)),
		Children: kubeinformers.NewSharedInformerFactoryWithOptions(kubeClient, 0,
			kubeinformers.WithTransform(trimChild),
			withLabelSelector(render.ManagedByLabel+"="+render.ManagedBy)),
		Records: kubeinformers.NewSharedInformerFactoryWithOptions(kubeClient, 0,
			kubeinformers.WithTransform(trimChild),
			withLabelSelector(modelstackrender.ChildSelector)),
		Pods: kubeinformers.NewSharedInformerFactoryWithOptions(kubeClient, 0,
			kubeinformers.WithTransform(trim),
			withLabelSelector(modelv1.SelectorLabel)),
		MountFailures: kubeinformers.NewSharedInformerFactoryWithOptions(kubeClient, 0,
			kubeinformers.WithTransform(trim),
			withFieldSelector(fields.AndSelectors(
				fields.OneTermEqualSelector("regarding.kind", "Pod"),
				fields.OneTermEqualSelector("type", corev1.EventTypeWarning),
				fields.OneTermEqualSelector("reason", FailedMount)))),
		CreationFailures: kubeinformers.NewSharedInformerFactoryWithOptions(kubeClient, 0,
			kubeinformers.WithTransform(trim),
			withFieldSelector(fields.AndSelectors(
				fields.OneTermNotEqualSelector("regarding.kind", "ReplicaSet"),
				fields.OneTermNotEqualSelector("regarding.kind", "Job"),
				fields.OneTermEqualSelector("type", corev1.EventTypeWarning),
				fields.OneTermEqualSelector("reason", FailedCreate)))),
		Health: cachehealth.NewMonitor(),
	}
}

func withLabelSelector(selector string) kubeinformers.SharedInformerOption {
	return kubeinformers.WithTweakListOptions(func(options *metav1.ListOptions) { options.LabelSelector = selector })
}

func withFieldSelector(selector fields.Selector) kubeinformers.SharedInformerOption {
	return kubeinformers.WithTweakListOptions(func(options *metav1.ListOptions) { options.FieldSelector = selector.String() })
}

// AddOptional lets Start start an informer of a kind that the cluster may not serve.
func (f *Factories) AddOptional(informer *Optional) { f.optional = append(f.optional, informer) }

// Start starts all informers that were asked for. They run until ctx is done.
func (f *Factories) Start(ctx context.Context) {
	f.Model.StartWithContext(ctx)
	for _, factory := range f.kubeFactories() {
		factory.StartWithContext(ctx)
	}
	for _, informer := range f.optional {
		f.running.Go(func() { informer.RunWithContext(ctx) })
	}
	f.running.Go(func() { f.Health.Run(ctx) })
}

// Shutdown waits until all informers have ended, once the context that they were started with is done.
func (f *Factories) Shutdown() {
	f.Model.Shutdown()
	for _, factory := range f.kubeFactories() {
		factory.Shutdown()
	}
	f.running.Wait()
}

func (f *Factories) kubeFactories() []kubeinformers.SharedInformerFactory {
	return []kubeinformers.SharedInformerFactory{f.Kube, f.Children, f.Records, f.Pods, f.MountFailures, f.CreationFailures}
}
