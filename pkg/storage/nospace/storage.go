// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package nospace

import (
	"context"
	"errors"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/registry/generic"
	"k8s.io/apiserver/pkg/storage"
	"k8s.io/apiserver/pkg/storage/storagebackend"
	"k8s.io/apiserver/pkg/storage/storagebackend/factory"
	"k8s.io/client-go/tools/cache"
)

const etcdFull = "etcd has reached its quota: delete objects, or increase the quota. For an external etcd, also compact and defragment it, and disarm its alarm"

// WithStatus returns a getter of options for storage that returns NewError instead of the error of etcd about its quota.
func WithStatus(getter generic.RESTOptionsGetter) generic.RESTOptionsGetter {
	return optionsGetter{getter}
}

type optionsGetter struct{ delegate generic.RESTOptionsGetter }

func (g optionsGetter) GetRESTOptions(resource schema.GroupResource, example runtime.Object) (generic.RESTOptions, error) {
	options, err := g.delegate.GetRESTOptions(resource, example)
	if err == nil {
		options.Decorator = decorate(options.Decorator)
	}
	return options, err
}

func decorate(decorator generic.StorageDecorator) generic.StorageDecorator {
	return func(config *storagebackend.ConfigForResource, resourcePrefix string, keyFunc func(runtime.Object) (string, error),
		newFunc, newListFunc func() runtime.Object, getAttrs storage.AttrFunc, trigger storage.IndexerFuncs, indexers *cache.Indexers,
	) (storage.Interface, factory.DestroyFunc, error) {
		delegate, destroy, err := decorator(config, resourcePrefix, keyFunc, newFunc, newListFunc, getAttrs, trigger, indexers)
		if err != nil {
			return nil, nil, err
		}
		return statusStorage{delegate}, destroy, nil
	}
}

// statusStorage wraps storage and replaces the error of etcd.
type statusStorage struct{ storage.Interface }

func withStatus(err error) error {
	if errors.Is(err, rpctypes.ErrNoSpace) {
		return NewError(etcdFull)
	}
	return err
}

// Create implements storage.Interface.
func (s statusStorage) Create(ctx context.Context, key string, obj, out runtime.Object, ttl uint64) error {
	return withStatus(s.Interface.Create(ctx, key, obj, out, ttl))
}

// GuaranteedUpdate implements storage.Interface.
func (s statusStorage) GuaranteedUpdate(ctx context.Context, key string, destination runtime.Object, ignoreNotFound bool, preconditions *storage.Preconditions, tryUpdate storage.UpdateFunc, cachedExistingObject runtime.Object) error {
	return withStatus(s.Interface.GuaranteedUpdate(ctx, key, destination, ignoreNotFound, preconditions, tryUpdate, cachedExistingObject))
}

// Delete implements storage.Interface.
func (s statusStorage) Delete(ctx context.Context, key string, out runtime.Object, preconditions *storage.Preconditions, validateDeletion storage.ValidateObjectFunc, cachedExistingObject runtime.Object, opts storage.DeleteOptions) error {
	return withStatus(s.Interface.Delete(ctx, key, out, preconditions, validateDeletion, cachedExistingObject, opts))
}
