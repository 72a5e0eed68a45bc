// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package recovery

import (
	"context"
	"fmt"
	"path"
	"slices"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/apiserver/pkg/registry/generic"
	"k8s.io/apiserver/pkg/storage"
	"k8s.io/apiserver/pkg/storage/storagebackend"
	"k8s.io/apiserver/pkg/storage/storagebackend/factory"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"
)

// absentOwnersPeriod is how often the server looks whether children still name their absent owners.
const absentOwnersPeriod = 30 * time.Second

// withheld are the absent owners that requests are refused for.
type withheld struct {
	mu     sync.RWMutex
	owners []AbsentOwner
}

func (w *withheld) set(owners []AbsentOwner) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.owners = owners
	absentOwnerCount.Set(float64(len(owners)))
}

// verify returns the error of a request for an object that is an absent owner: "not found" would have the garbage collector
// delete its children, and so would another object of the name.
func (w *withheld) verify(resource schema.GroupResource, key string) error {
	w.mu.RLock()
	defer w.mu.RUnlock()
	if len(w.owners) == 0 {
		return nil
	}
	parent, name := path.Split(key)
	namespace := path.Base(parent)
	i := slices.IndexFunc(w.owners, func(owner AbsentOwner) bool {
		return owner.Resource == resource.Resource && owner.Namespace == namespace && (owner.Name == "" || owner.Name == name)
	})
	if i < 0 {
		return nil
	}
	return apierrors.NewServiceUnavailable(fmt.Sprintf("children of %s %q in namespace %q exist, and the object itself was lost with the store and has no readable record. "+
		"It can be created again when these children are deleted, or their owner references are removed", resource, name, namespace))
}

// keepVerifying lifts the refusals for which there is no reason any more, until ctx is done.
func (w *withheld) keepVerifying(ctx context.Context, store *Store, contents *contents, cluster *cluster) {
	logger := klog.FromContext(ctx)
	wait.UntilWithContext(ctx, func(ctx context.Context) {
		read, err := store.absentOwners(ctx)
		if err != nil {
			logger.V(2).Info("Cannot look for absent owners", "err", err)
			return
		}
		still, err := stillAbsent(ctx, read.owners, contents, cluster)
		if err != nil {
			logger.V(2).Info("Cannot look for children of absent owners", "err", err)
			return
		}
		if len(still) < len(read.owners) {
			if err := store.setAbsentOwners(ctx, read, still); err != nil {
				logger.V(2).Info("Cannot lift refusals", "err", err)
				return
			}
			logger.Info("Some absent owners have no children any more", "before", len(read.owners), "after", len(still))
		}
		w.set(still)
	}, absentOwnersPeriod)
}

// decorate returns storage that refuses requests for absent owners.
func (w *withheld) decorate(decorator generic.StorageDecorator) generic.StorageDecorator {
	return func(config *storagebackend.ConfigForResource, resourcePrefix string, keyFunc func(runtime.Object) (string, error),
		newFunc, newListFunc func() runtime.Object, getAttrs storage.AttrFunc, trigger storage.IndexerFuncs, indexers *cache.Indexers,
	) (storage.Interface, factory.DestroyFunc, error) {
		delegate, destroy, err := decorator(config, resourcePrefix, keyFunc, newFunc, newListFunc, getAttrs, trigger, indexers)
		if err != nil {
			return delegate, destroy, err
		}
		return withholdingStorage{delegate, config.GroupResource, w}, destroy, nil
	}
}

type withholdingStorage struct {
	storage.Interface
	resource schema.GroupResource
	withheld *withheld
}

// Create stores a new object.
func (s withholdingStorage) Create(ctx context.Context, key string, obj, out runtime.Object, ttl uint64) error {
	if err := s.withheld.verify(s.resource, key); err != nil {
		return err
	}
	return s.Interface.Create(ctx, key, obj, out, ttl)
}

// Get reads an object.
func (s withholdingStorage) Get(ctx context.Context, key string, options storage.GetOptions, into runtime.Object) error {
	if err := s.withheld.verify(s.resource, key); err != nil {
		return err
	}
	return s.Interface.Get(ctx, key, options, into)
}

// GuaranteedUpdate changes an object.
func (s withholdingStorage) GuaranteedUpdate(ctx context.Context, key string, destination runtime.Object, ignoreNotFound bool, preconditions *storage.Preconditions, tryUpdate storage.UpdateFunc, cachedExistingObject runtime.Object) error {
	if err := s.withheld.verify(s.resource, key); err != nil {
		return err
	}
	return s.Interface.GuaranteedUpdate(ctx, key, destination, ignoreNotFound, preconditions, tryUpdate, cachedExistingObject)
}
