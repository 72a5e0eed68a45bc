// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package recovery

import (
	"context"
	"errors"
	"sync"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/apiserver/pkg/registry/generic"
	"k8s.io/apiserver/pkg/storage"
	cacherstorage "k8s.io/apiserver/pkg/storage/cacher"
	"k8s.io/apiserver/pkg/storage/storagebackend"
	"k8s.io/apiserver/pkg/storage/storagebackend/factory"
	"k8s.io/client-go/tools/cache"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/storage/corruptobject"
)

// storageWithCacher is genericregistry.StorageWithCacher with a cache that is not filled before done is closed. A cache that was
// filled before the recovery would continue from the lost state, and clients that have seen more would never get the deletions.
func storageWithCacher(done <-chan struct{}, corrupt *corruptobject.Tracker) generic.StorageDecorator {
	return func(
		config *storagebackend.ConfigForResource,
		resourcePrefix string,
		keyFunc func(obj runtime.Object) (string, error),
		newFunc func() runtime.Object,
		newListFunc func() runtime.Object,
		getAttrsFunc storage.AttrFunc,
		triggerFuncs storage.IndexerFuncs,
		indexers *cache.Indexers,
	) (storage.Interface, factory.DestroyFunc, error) {
		raw, destroyRaw, err := generic.NewRawStorage(config, newFunc, newListFunc, resourcePrefix)
		if err != nil {
			return raw, destroyRaw, err
		}
		// cacher.Stop waits for its list and watch, and does not cancel them.
		stopped := make(chan struct{})
		raw = gatedStorage{corrupt.Isolate(raw, config.GroupResource), done, stopped}
		cacher, err := cacherstorage.NewCacherFromConfig(cacherstorage.Config{
			Storage:             raw,
			Versioner:           storage.APIObjectVersioner{},
			GroupResource:       config.GroupResource,
			EventsHistoryWindow: config.EventsHistoryWindow,
			ResourcePrefix:      resourcePrefix,
			KeyFunc:             keyFunc,
			NewFunc:             newFunc,
			NewListFunc:         newListFunc,
			GetAttrsFunc:        getAttrsFunc,
			IndexerFuncs:        triggerFuncs,
			Indexers:            indexers,
			Codec:               config.Codec,
		})
		if err != nil {
			destroyRaw()
			return nil, func() {}, err
		}
		delegator := cacherstorage.NewCacheDelegator(cacher, raw)
		return delegator, sync.OnceFunc(func() {
			close(stopped)
			delegator.Stop()
			cacher.Stop()
			destroyRaw()
		}), nil
	}
}

// errStopped is returned for lists and watches if the storage was stopped before done was closed.
var errStopped = errors.New("the storage was stopped")

// gatedStorage blocks lists and watches until done or stopped is closed.
type gatedStorage struct {
	storage.Interface
	done, stopped <-chan struct{}
}

// GetList implements storage.Interface.
func (s gatedStorage) GetList(ctx context.Context, key string, options storage.ListOptions, list runtime.Object) error {
	if err := s.wait(ctx); err != nil {
		return err
	}
	return s.Interface.GetList(ctx, key, options, list)
}

// Watch implements storage.Interface.
func (s gatedStorage) Watch(ctx context.Context, key string, options storage.ListOptions) (watch.Interface, error) {
	if err := s.wait(ctx); err != nil {
		return nil, err
	}
	return s.Interface.Watch(ctx, key, options)
}

func (s gatedStorage) wait(ctx context.Context) error {
	select {
	case <-s.done:
		return nil
	case <-s.stopped:
		return errStopped
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
