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

// absentOwnersPeriod is the time between two checks that absent owners still have children.
const absentOwnersPeriod = 30 * time.Second

// refusedOwners has the absent owners that the server refuses requests for.
type refusedOwners struct {
	mu     sync.RWMutex
	owners []AbsentOwner
}

func (r *refusedOwners) set(owners []AbsentOwner) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.owners = owners
	absentOwnerCount.Set(float64(len(owners)))
}

// verify returns an error if the key of a request is the key of an absent owner. The garbage collector would delete the children of
// the owner if the server returned 404, or a new object of the same name with another UID.
func (r *refusedOwners) verify(resource schema.GroupResource, key string) error {
	r.mu.RLock()
	defer r.mu.RUnlock()
	if len(r.owners) == 0 {
		return nil
	}
	parent, name := path.Split(key)
	namespace := path.Base(parent)
	i := slices.IndexFunc(r.owners, func(owner AbsentOwner) bool {
		return owner.Resource == resource.Resource && owner.Namespace == namespace && (owner.Name == "" || owner.Name == name)
	})
	if i < 0 {
		return nil
	}
	return apierrors.NewServiceUnavailable(fmt.Sprintf("children of %s %q in namespace %q exist, but the object was lost with the store and has no readable record. "+
		"To create it again, first delete these children or remove their owner references", resource, name, namespace))
}

// keepUpdating removes absent owners that no longer have children, until ctx is done.
func (r *refusedOwners) keepUpdating(ctx context.Context, store *Store, contents *contents, cluster *cluster) {
	logger := klog.FromContext(ctx)
	wait.UntilWithContext(ctx, func(ctx context.Context) {
		read, err := store.absentOwners(ctx)
		if err != nil {
			logger.V(2).Info("Cannot read the absent owners", "err", err)
			return
		}
		still, err := stillAbsent(ctx, read.owners, contents, cluster)
		if err != nil {
			logger.V(2).Info("Cannot list the children of absent owners", "err", err)
			return
		}
		if len(still) < len(read.owners) {
			if err := store.setAbsentOwners(ctx, read, still); err != nil {
				logger.V(2).Info("Cannot update the absent owners", "err", err)
				return
			}
			logger.Info("Some absent owners no longer have children", "before", len(read.owners), "after", len(still))
		}
		r.set(still)
	}, absentOwnersPeriod)
}

// decorate returns a decorator that refuses requests for absent owners.
func (r *refusedOwners) decorate(decorator generic.StorageDecorator) generic.StorageDecorator {
	return func(config *storagebackend.ConfigForResource, resourcePrefix string, keyFunc func(runtime.Object) (string, error),
		newFunc, newListFunc func() runtime.Object, getAttrs storage.AttrFunc, trigger storage.IndexerFuncs, indexers *cache.Indexers,
	) (storage.Interface, factory.DestroyFunc, error) {
		delegate, destroy, err := decorator(config, resourcePrefix, keyFunc, newFunc, newListFunc, getAttrs, trigger, indexers)
		if err != nil {
			return delegate, destroy, err
		}
		return ownerRefusingStorage{delegate, config.GroupResource, r}, destroy, nil
	}
}

// ownerRefusingStorage refuses requests for absent owners.
type ownerRefusingStorage struct {
	storage.Interface
	resource schema.GroupResource
	refused  *refusedOwners
}

// Create implements storage.Interface.
func (s ownerRefusingStorage) Create(ctx context.Context, key string, obj, out runtime.Object, ttl uint64) error {
	if err := s.refused.verify(s.resource, key); err != nil {
		return err
	}
	return s.Interface.Create(ctx, key, obj, out, ttl)
}

// Get implements storage.Interface.
func (s ownerRefusingStorage) Get(ctx context.Context, key string, options storage.GetOptions, into runtime.Object) error {
	if err := s.refused.verify(s.resource, key); err != nil {
		return err
	}
	return s.Interface.Get(ctx, key, options, into)
}

// GuaranteedUpdate implements storage.Interface.
func (s ownerRefusingStorage) GuaranteedUpdate(ctx context.Context, key string, destination runtime.Object, ignoreNotFound bool, preconditions *storage.Preconditions, tryUpdate storage.UpdateFunc, cachedExistingObject runtime.Object) error {
	if err := s.refused.verify(s.resource, key); err != nil {
		return err
	}
	return s.Interface.GuaranteedUpdate(ctx, key, destination, ignoreNotFound, preconditions, tryUpdate, cachedExistingObject)
}
