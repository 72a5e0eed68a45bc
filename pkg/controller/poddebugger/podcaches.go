// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package poddebugger

import (
	"context"
	"fmt"
	"sync"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime/schema"
	coreinformers "k8s.io/client-go/informers/core/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
	"k8s.io/utils/clock"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/consistency"
)

// podCaches has a cache of the pods of each namespace that has a PodDebugger. It costs nothing where there is none, which is most
// clusters at most times, and never the pods of all namespaces.
type podCaches struct {
	client  kubernetes.Interface
	clock   clock.PassiveClock
	handler cache.ResourceEventHandler

	mu          sync.Mutex
	isShutDown  bool
	byNamespace map[string]*podCache
	running     sync.WaitGroup
}

// podCache is the cache of the pods of one namespace.
type podCache struct {
	informer cache.SharedIndexInformer
	// consistency knows the pods that were written for the PodDebuggers of the namespace.
	consistency *consistency.Store
	stop        context.CancelFunc

	mu      sync.Mutex
	failure error
	// boxes are those that pods with the container may belong to, by their names.
	boxes map[string]boxFilter
}

func newPodCaches(client kubernetes.Interface, clock clock.PassiveClock, handler cache.ResourceEventHandler) *podCaches {
	return &podCaches{client: client, clock: clock, handler: handler, byNamespace: map[string]*podCache{}}
}

// get returns the cache of the namespace, which it starts where there is none. It runs until it is released, or all are shut down.
func (c *podCaches) get(namespace string) (*podCache, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if pods := c.byNamespace[namespace]; pods != nil {
		return pods, nil
	}
	if c.isShutDown {
		return nil, context.Canceled
	}
	pods := &podCache{boxes: map[string]boxFilter{}, informer: coreinformers.NewFilteredPodInformer(c.client, namespace, 0, cache.Indexers{}, func(options *metav1.ListOptions) {
		// No pod that has ended gets a container, and a namespace can have very many of those.
		options.FieldSelector = fields.AndSelectors(
			fields.OneTermNotEqualSelector("status.phase", string(corev1.PodSucceeded)),
			fields.OneTermNotEqualSelector("status.phase", string(corev1.PodFailed))).String()
	})}
	pods.consistency = consistency.NewStore(c.clock, map[schema.GroupResource]consistency.LastSyncRVGetter{podResource: pods.informer.GetStore()})
	if err := pods.informer.SetTransform(trimPod); err != nil {
		return nil, fmt.Errorf("setting what the cache of pods keeps: %w", err)
	}
	if err := pods.informer.SetWatchErrorHandlerWithContext(func(ctx context.Context, reflector *cache.Reflector, err error) {
		pods.fail(err)
		cache.DefaultWatchErrorHandler(ctx, reflector, err)
	}); err != nil {
		return nil, fmt.Errorf("watching the cache of pods: %w", err)
	}
	if _, err := pods.informer.AddEventHandler(relevantUpdates{c.handler}); err != nil {
		return nil, fmt.Errorf("watching pods: %w", err)
	}
	ctx, stop := context.WithCancel(context.Background())
	pods.stop = stop
	c.byNamespace[namespace] = pods
	c.running.Go(func() { pods.informer.RunWithContext(ctx) })
	return pods, nil
}

// release stops the cache of a namespace, unless it is used: a PodDebugger that isUsed does not see yet asks for the cache later.
func (c *podCaches) release(namespace string, isUsed func() bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if pods := c.byNamespace[namespace]; pods != nil && !isUsed() {
		pods.stop()
		delete(c.byNamespace, namespace)
	}
}

// shutDown stops all caches, and returns when they have ended. No other one is started then.
func (c *podCaches) shutDown() {
	c.mu.Lock()
	c.isShutDown = true
	for namespace, pods := range c.byNamespace {
		pods.stop()
		delete(c.byNamespace, namespace)
	}
	c.mu.Unlock()
	c.running.Wait()
}

func (p *podCache) fail(err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.failure = err
}

// hasSynced returns whether the cache has what there was when it was started, and why not, as far as that is known.
func (p *podCache) hasSynced() (bool, error) {
	if p.informer.HasSynced() {
		return true, nil
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	return false, p.failure
}

// list returns the pods of the namespace, which may not be changed.
func (p *podCache) list() []*corev1.Pod {
	objects := p.informer.GetStore().List()
	pods := make([]*corev1.Pod, 0, len(objects))
	for _, object := range objects {
		if pod, ok := object.(*corev1.Pod); ok {
			pods = append(pods, pod)
		}
	}
	return pods
}
