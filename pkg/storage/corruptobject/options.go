// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package corruptobject

import (
	"reflect"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/registry/generic"
	"k8s.io/apiserver/pkg/storage"
	"k8s.io/apiserver/pkg/storage/storagebackend"
	"k8s.io/apiserver/pkg/storage/storagebackend/factory"
	"k8s.io/apiserver/pkg/storage/value/encrypt/identity"
	"k8s.io/client-go/tools/cache"
)

// WithIsolation returns a getter of options for storage that Isolate can wrap. Call it after everything else that changes the codec
// or the transformer. Storage without Isolate still returns an error if it cannot read an object.
func (t *Tracker) WithIsolation(getter generic.RESTOptionsGetter) generic.RESTOptionsGetter {
	return optionsGetter{getter, t}
}

type optionsGetter struct {
	generic.RESTOptionsGetter
	tracker *Tracker
}

// GetRESTOptions implements generic.RESTOptionsGetter.
func (g optionsGetter) GetRESTOptions(resource schema.GroupResource, example runtime.Object) (generic.RESTOptions, error) {
	options, err := g.RESTOptionsGetter.GetRESTOptions(resource, example)
	if err != nil {
		return options, err
	}
	corruptObjects.WithLabelValues(resource.Resource) // create the series, with value 0
	config := *options.StorageConfig
	if config.Transformer == nil {
		// The storage of etcd has the same default: it does not read encrypted values as plain values.
		config.Transformer = identity.NewEncryptCheckTransformer()
	}
	config.Transformer = transformer{config.Transformer}
	config.Codec = &codec{Codec: config.Codec, resource: resource, objectType: reflect.TypeOf(example), tracker: g.tracker}
	options.StorageConfig = &config
	return options, nil
}

// UndecoratedStorage is generic.UndecoratedStorage with Isolate, for a server without a watch cache.
func (t *Tracker) UndecoratedStorage(config *storagebackend.ConfigForResource, resourcePrefix string, keyFunc func(runtime.Object) (string, error),
	newFunc, newListFunc func() runtime.Object, getAttrs storage.AttrFunc, trigger storage.IndexerFuncs, indexers *cache.Indexers,
) (storage.Interface, factory.DestroyFunc, error) {
	raw, destroy, err := generic.UndecoratedStorage(config, resourcePrefix, keyFunc, newFunc, newListFunc, getAttrs, trigger, indexers)
	if err != nil {
		return raw, destroy, err
	}
	return t.Isolate(raw, config.GroupResource), destroy, nil
}
