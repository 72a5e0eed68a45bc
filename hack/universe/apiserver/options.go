// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package apiserver

import (
	"fmt"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/registry/generic"
	serverstorage "k8s.io/apiserver/pkg/server/storage"
	"k8s.io/apiserver/pkg/storage/storagebackend"

	"github.com/sharelinuxs/modelbox-apiserver/hack/universe/store"
)

// restOptions makes the registries of all resources store their objects in one store.
type restOptions struct {
	factory *serverstorage.DefaultStorageFactory
	store   *store.Store
}

var _ generic.RESTOptionsGetter = restOptions{}

// GetRESTOptions implements generic.RESTOptionsGetter.
func (o restOptions) GetRESTOptions(resource schema.GroupResource, example runtime.Object) (generic.RESTOptions, error) {
	config, err := o.factory.NewConfig(resource, example)
	if err != nil {
		return generic.RESTOptions{}, fmt.Errorf("configuring the storage of %s: %w", resource, err)
	}
	return optionsOf(o.store, config, o.factory.ResourcePrefix(resource)), nil
}

// optionsOf returns the options of a registry whose objects are in the store, below the prefix.
func optionsOf(s *store.Store, config *storagebackend.ConfigForResource, prefix string) generic.RESTOptions {
	return generic.RESTOptions{
		StorageConfig:           config,
		Decorator:               s.Decorator(),
		EnableGarbageCollection: true,
		DeleteCollectionWorkers: 1,
		ResourcePrefix:          prefix,
	}
}
