// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

// Package references restarts boxes whose spec.restartOn is "References" when the data of a ConfigMap or a Secret that their pods refer
// to changes. It records the hashes of the data in the pod template in the spec of the box, as the subresource restart records its time:
// a restart is a rollout with its steps, its checks and its revision.
package references

import (
	"context"
	"errors"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
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
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/informers"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/reconciler"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/generated/clientset/versioned"
	modelinformers "github.com/sharelinuxs/modelbox-apiserver/pkg/generated/informers/externalversions/model/v1"
	modellisters "github.com/sharelinuxs/modelbox-apiserver/pkg/generated/listers/model/v1"
	modelboxrender "github.com/sharelinuxs/modelbox-apiserver/pkg/render/modelbox"
)

const (
	// Name is the name of the controller, in --controllers and in the names of its metrics and health check.
	Name = "references"
	// noun is what messages call a box.
	noun = "box"

	// concurrentSyncs is how many boxes are reconciled at the same time, at most half of them from one namespace.
	concurrentSyncs = 8
)

// The indexes of boxes with references.
const (
	byReference = "byReference"
	byNamespace = "byNamespaceWithReferences"
)

var boxResource = modelv1.Resource("modelboxes")

// Controller records the hashes of the references of boxes.
type Controller struct {
	*reconciler.For[*modelv1.ModelBox, modelv1.ModelBoxStatus]

	modelClient    versioned.Interface
	boxLister      modellisters.ModelBoxLister
	boxes          cache.Indexer
	key            *keySource
	objects        *objectCaches
	pace           *pace
	watchesSecrets bool
}

// ControllerParameters is what a Controller is made of. No informer may be started yet.
type ControllerParameters struct {
	// ModelClient writes boxes, and KubeClient reads ConfigMaps and Secrets.
	ModelClient versioned.Interface
	KubeClient  kubernetes.Interface

	Boxes modelinformers.ModelBoxInformer
	// CacheHealth checks the caches of these informers.
	CacheHealth *cachehealth.Monitor

	Recorder events.EventRecorder
	Clock    clock.PassiveClock

	// RestartRate is the number of boxes that restart in a second, at most half of them in one namespace.
	RestartRate float64
	// WatchesSecrets is true if changes of Secrets restart boxes as well. The server needs permission to list and watch Secrets.
	WatchesSecrets bool
	// KeySecret is the Secret with the key of the hashes.
	KeySecret types.NamespacedName
}

// New returns a controller that does nothing until Run.
func New(p ControllerParameters) (*Controller, error) {
	c := &Controller{
		modelClient:    p.ModelClient,
		boxLister:      p.Boxes.Lister(),
		boxes:          p.Boxes.Informer().GetIndexer(),
		key:            &keySource{client: p.KubeClient, secret: p.KeySecret},
		pace:           newPace(p.RestartRate, p.Clock),
		watchesSecrets: p.WatchesSecrets,
	}
	c.For = reconciler.New(reconciler.Config[*modelv1.ModelBox, modelv1.ModelBoxStatus]{
		Controller:      Name,
		Noun:            noun,
		Resource:        boxResource,
		ConcurrentSyncs: concurrentSyncs,
		CacheHealth:     p.CacheHealth,
		Consistency:     consistency.NewStore(p.Clock, map[schema.GroupResource]consistency.LastSyncRVGetter{boxResource: p.Boxes.Informer().GetStore()}),
		Metrics:         processMetrics(),
		Recorder:        p.Recorder,
		Clock:           p.Clock,

		Get: func(namespace, name string) (*modelv1.ModelBox, error) {
			return c.boxLister.ModelBoxes(namespace).Get(name)
		},
		Reconcile:       c.reconcile,
		ObserveDeletion: c.releaseCaches,
		Memories:        []reconciler.Forgetter{c.pace},
		Wait:            func() { c.objects.shutDown() },
	})
	c.objects = newObjectCaches(p.KubeClient, c.Queue.HandlerOfAll(c.boxesWith))
	if err := c.Watch(boxResource, c.Caches.AddRequired, p.Boxes.Informer(), c.Queue.Handler(withReferences)); err != nil {
		return nil, err
	}
	for name, index := range map[string]cache.IndexFunc{byReference: indexByReference, byNamespace: indexByNamespace} {
		if err := informers.AddIndex(p.Boxes.Informer(), name, index); err != nil {
			return nil, fmt.Errorf("indexing boxes: %w", err)
		}
	}
	return c, nil
}

// withReferences returns the box, and whether a change of its references restarts it.
func withReferences(object metav1.Object) (types.NamespacedName, bool) {
	box, ok := object.(*modelv1.ModelBox)
	return apply.KeyOf(object), ok && box.Spec.RestartsOnReferences()
}

// releaseCaches stops the caches of a namespace without boxes with references.
func (c *Controller) releaseCaches(_ context.Context, key types.NamespacedName) error {
	c.objects.release(key.Namespace, func() bool {
		boxes, err := c.boxes.IndexKeys(byNamespace, key.Namespace)
		return err != nil || len(boxes) > 0
	})
	return nil
}

// boxesWith returns the boxes whose pods refer to the object.
func (c *Controller) boxesWith(object metav1.Object) []types.NamespacedName {
	hashed, ok := object.(*hashedObject)
	if !ok {
		return nil
	}
	keys, err := c.boxes.IndexKeys(byReference, referenceKey(hashed.kind, hashed.Namespace, hashed.Name))
	if err != nil {
		return nil // the index exists
	}
	boxes := make([]types.NamespacedName, 0, len(keys))
	for _, key := range keys {
		if namespace, name, err := cache.SplitMetaNamespaceKey(key); err == nil {
			boxes = append(boxes, types.NamespacedName{Namespace: namespace, Name: name})
		}
	}
	return boxes
}

func indexByReference(obj any) ([]string, error) {
	box, ok := obj.(*modelv1.ModelBox)
	if !ok || !box.Spec.RestartsOnReferences() {
		return nil, nil
	}
	references, err := modelboxrender.References(box)
	if err != nil {
		return nil, nil //nolint:nilerr // reconcile returns the error
	}
	keys := make([]string, len(references))
	for i := range references {
		keys[i] = referenceKey(references[i].Kind, box.Namespace, references[i].Name)
	}
	return keys, nil
}

func indexByNamespace(obj any) ([]string, error) {
	box, ok := obj.(*modelv1.ModelBox)
	if !ok || !box.Spec.RestartsOnReferences() {
		return nil, nil
	}
	return []string{box.Namespace}, nil
}

func referenceKey(kind, namespace, name string) string { return kind + "/" + namespace + "/" + name }

// isWatched returns whether a change of objects of the kind restarts boxes.
func (c *Controller) isWatched(kind string) bool {
	return kind == modelboxrender.ConfigMapKind || c.watchesSecrets
}

// warn records an event about an error that keeps the controller from noticing changes, unless the controller is stopping.
func (c *Controller) warn(box *modelv1.ModelBox, err error) {
	if !errors.Is(err, context.Canceled) {
		c.Eventf(box, nil, corev1.EventTypeWarning, modelv1.ReasonError, "Watch", "%s", err)
	}
}
