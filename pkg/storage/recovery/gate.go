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

// storageWithCacher is genericregistry.StorageWithCacher with a cache that is not filled before done is closed. A cache
// that had been filled with less would go on from there, and so would clients that had seen more: they would never
// learn what is gone.
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
		// The cache stops only when its list or watch has ended, and does not end them itself.
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

// errStopped is the answer to lists and watches of storage that was stopped before it could be read.
var errStopped = errors.New("the storage was stopped")

// gatedStorage answers no list and no watch before done is closed, or it is stopped.
type gatedStorage struct {
	storage.Interface
	done, stopped <-chan struct{}
}

// GetList lists objects.
func (s gatedStorage) GetList(ctx context.Context, key string, options storage.ListOptions, list runtime.Object) error {
	if err := s.wait(ctx); err != nil {
		return err
	}
	return s.Interface.GetList(ctx, key, options, list)
}

// Watch watches objects.
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
