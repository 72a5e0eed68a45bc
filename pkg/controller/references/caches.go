// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package references

import (
	"context"
	"fmt"
	"maps"
	"sync"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	coreinformers "k8s.io/client-go/informers/core/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"

	modelboxrender "github.com/sharelinuxs/modelbox-apiserver/pkg/render/modelbox"
)

// objectCaches has caches of the ConfigMaps and Secrets of each namespace that has a box with references. They cost nothing in other
// namespaces.
type objectCaches struct {
	client  kubernetes.Interface
	handler cache.ResourceEventHandler

	mu         sync.Mutex
	isShutDown bool
	caches     map[cacheKey]*objectCache
	running    sync.WaitGroup
}

type cacheKey struct{ kind, namespace string }

// objectCache has the hashes of the ConfigMaps or of the Secrets of one namespace, and none of their values.
type objectCache struct {
	informer cache.SharedIndexInformer
	stop     context.CancelFunc

	mu      sync.Mutex
	failure error
}

func newObjectCaches(client kubernetes.Interface, handler cache.ResourceEventHandler) *objectCaches {
	return &objectCaches{client: client, handler: changesOnly{handler}, caches: map[cacheKey]*objectCache{}}
}

// get returns the cache of the objects of a kind in the namespace. If there is none, get starts it with the hasher. It runs until it is
// released, or all caches are shut down.
func (c *objectCaches) get(kind, namespace string, hasher hasher) (*objectCache, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	key := cacheKey{kind, namespace}
	if objects := c.caches[key]; objects != nil {
		return objects, nil
	}
	if c.isShutDown {
		return nil, context.Canceled
	}
	objects := &objectCache{}
	switch kind {
	case modelboxrender.ConfigMapKind:
		objects.informer = coreinformers.NewConfigMapInformer(c.client, namespace, 0, cache.Indexers{})
	case modelboxrender.SecretKind:
		objects.informer = coreinformers.NewSecretInformer(c.client, namespace, 0, cache.Indexers{})
	default:
		return nil, fmt.Errorf("no cache has objects of kind %s", kind)
	}
	if err := objects.informer.SetTransform(hasher.hashed); err != nil {
		return nil, fmt.Errorf("setting the transform of the cache of %ss: %w", kind, err)
	}
	if err := objects.informer.SetWatchErrorHandlerWithContext(func(ctx context.Context, reflector *cache.Reflector, err error) {
		objects.fail(err)
		cache.DefaultWatchErrorHandler(ctx, reflector, err)
	}); err != nil {
		return nil, fmt.Errorf("watching the cache of %ss: %w", kind, err)
	}
	if _, err := objects.informer.AddEventHandler(c.handler); err != nil {
		return nil, fmt.Errorf("watching %ss: %w", kind, err)
	}
	ctx, stop := context.WithCancel(context.Background())
	objects.stop = stop
	c.caches[key] = objects
	c.running.Go(func() { objects.informer.RunWithContext(ctx) })
	return objects, nil
}

// release stops the caches of a namespace, unless they are used.
func (c *objectCaches) release(namespace string, isUsed func() bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if isUsed() {
		return
	}
	for _, kind := range []string{modelboxrender.ConfigMapKind, modelboxrender.SecretKind} {
		key := cacheKey{kind, namespace}
		if objects := c.caches[key]; objects != nil {
			objects.stop()
			delete(c.caches, key)
		}
	}
}

// shutDown stops all caches, and returns when they have ended. No other cache starts afterwards.
func (c *objectCaches) shutDown() {
	c.mu.Lock()
	c.isShutDown = true
	for key, objects := range c.caches {
		objects.stop()
		delete(c.caches, key)
	}
	c.mu.Unlock()
	c.running.Wait()
}

func (o *objectCache) fail(err error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.failure = err
}

// hasSynced returns whether the cache has all objects that existed when it was started. If not, the error is the reason, nil if it is
// unknown.
func (o *objectCache) hasSynced() (bool, error) {
	if o.informer.HasSynced() {
		return true, nil
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	return false, o.failure
}

// hashes returns the hashes of an object, nil if it does not exist.
func (o *objectCache) hashes(namespace, name string) (objectHashes, error) {
	obj, exists, err := o.informer.GetStore().GetByKey(namespace + "/" + name)
	if err != nil || !exists {
		return nil, err
	}
	object, ok := obj.(*hashedObject)
	if !ok {
		return nil, fmt.Errorf("expected a hashed object, got %T", obj)
	}
	return object.hashes, nil
}

// hashedObject is what the caches keep of a ConfigMap or a Secret. It is a separate type because an informer may transform an object
// again.
type hashedObject struct {
	metav1.ObjectMeta
	kind   string
	hashes objectHashes
}

// hashed is the transform of the caches. It returns an object with hashes in place of its values, and without all other fields.
func (h hasher) hashed(obj any) (any, error) {
	var hashed *hashedObject
	switch object := obj.(type) {
	case *corev1.ConfigMap:
		hashed = newHashedObject(modelboxrender.ConfigMapKind, &object.ObjectMeta)
		for key, value := range object.Data {
			hashed.hashes[key] = h.value(hashed.kind, object.Namespace, object.Name, key, []byte(value))
		}
		for key, value := range object.BinaryData {
			hashed.hashes[key] = h.value(hashed.kind, object.Namespace, object.Name, key, value)
		}
	case *corev1.Secret:
		hashed = newHashedObject(modelboxrender.SecretKind, &object.ObjectMeta)
		for key, value := range object.Data {
			hashed.hashes[key] = h.value(hashed.kind, object.Namespace, object.Name, key, value)
		}
	default: // It is hashed already, or is not an object.
		return obj, nil
	}
	return hashed, nil
}

func newHashedObject(kind string, meta *metav1.ObjectMeta) *hashedObject {
	return &hashedObject{
		ObjectMeta: metav1.ObjectMeta{Name: meta.Name, Namespace: meta.Namespace, UID: meta.UID, ResourceVersion: meta.ResourceVersion},
		kind:       kind,
		hashes:     objectHashes{},
	}
}

// changesOnly leaves out updates of objects that do not change their data.
type changesOnly struct{ cache.ResourceEventHandler }

// OnUpdate implements cache.ResourceEventHandler.
func (h changesOnly) OnUpdate(old, obj any) {
	before, ok := old.(*hashedObject)
	now, isHashed := obj.(*hashedObject)
	if !ok || !isHashed || !maps.Equal(before.hashes, now.hashes) {
		h.ResourceEventHandler.OnUpdate(old, obj)
	}
}
