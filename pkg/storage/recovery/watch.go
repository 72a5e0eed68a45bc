// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package recovery

import (
	"context"
	"fmt"
	"sync/atomic"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/apiserver/pkg/registry/generic"
	"k8s.io/apiserver/pkg/storage"
	"k8s.io/apiserver/pkg/storage/storagebackend"
	"k8s.io/apiserver/pkg/storage/storagebackend/factory"
	"k8s.io/client-go/tools/cache"
)

// refuseFutureWatches returns a decorator of storage that answers watches from a future revision with 410 Expired. A client that
// has its revision from another store, or from a CustomResourceDefinition of the group, then lists again. It would otherwise get no
// events until the store reaches that revision.
func refuseFutureWatches(decorator generic.StorageDecorator) generic.StorageDecorator {
	return func(config *storagebackend.ConfigForResource, resourcePrefix string, keyFunc func(runtime.Object) (string, error),
		newFunc, newListFunc func() runtime.Object, getAttrs storage.AttrFunc, trigger storage.IndexerFuncs, indexers *cache.Indexers,
	) (storage.Interface, factory.DestroyFunc, error) {
		delegate, destroy, err := decorator(config, resourcePrefix, keyFunc, newFunc, newListFunc, getAttrs, trigger, indexers)
		if err != nil {
			return delegate, destroy, err
		}
		return pastWatchStorage{delegate, &atomic.Uint64{}}, destroy, nil
	}
}

// pastWatchStorage refuses watches from revisions that the store has not reached.
type pastWatchStorage struct {
	storage.Interface
	// reached is the highest revision that the store is known to have reached.
	reached *atomic.Uint64
}

// Watch implements storage.Interface.
func (s pastWatchStorage) Watch(ctx context.Context, key string, options storage.ListOptions) (watch.Interface, error) {
	from, err := s.Versioner().ParseResourceVersion(options.ResourceVersion)
	if err != nil {
		return nil, err
	}
	// The watch cache may be behind the store, and another server ahead of this one. Therefore ask the store.
	if from > s.reached.Load() {
		now, err := s.GetCurrentResourceVersion(ctx)
		if err != nil {
			return nil, err
		}
		s.reached.Store(now)
		if from > now {
			return nil, apierrors.NewResourceExpired(fmt.Sprintf("resourceVersion %d is from another store: the store is at %d", from, now))
		}
	}
	return s.Interface.Watch(ctx, key, options)
}
