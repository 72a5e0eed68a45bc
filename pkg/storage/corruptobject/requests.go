// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package corruptobject

import (
	"context"
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/registry/generic"
	"k8s.io/apiserver/pkg/storage"
	"k8s.io/apiserver/pkg/storage/storagebackend"
	"k8s.io/apiserver/pkg/storage/storagebackend/factory"
	"k8s.io/apiserver/pkg/warning"
	"k8s.io/client-go/tools/cache"
)

// maxNamed is the number of objects that a warning names.
const maxNamed = 5

// WithWarnings returns a getter of options for the storage of requests. Although its cache leaves out corrupt objects, Get returns
// their error instead of "not found", and lists have a warning that names them.
func (t *Tracker) WithWarnings(getter generic.RESTOptionsGetter) generic.RESTOptionsGetter {
	return answeringGetter{getter, t}
}

type answeringGetter struct {
	generic.RESTOptionsGetter
	tracker *Tracker
}

// GetRESTOptions implements generic.RESTOptionsGetter.
func (g answeringGetter) GetRESTOptions(resource schema.GroupResource, example runtime.Object) (generic.RESTOptions, error) {
	options, err := g.RESTOptionsGetter.GetRESTOptions(resource, example)
	if err != nil {
		return options, err
	}
	decorator := options.Decorator
	options.Decorator = func(config *storagebackend.ConfigForResource, resourcePrefix string, keyFunc func(runtime.Object) (string, error),
		newFunc, newListFunc func() runtime.Object, getAttrs storage.AttrFunc, trigger storage.IndexerFuncs, indexers *cache.Indexers,
	) (storage.Interface, factory.DestroyFunc, error) {
		delegate, destroy, err := decorator(config, resourcePrefix, keyFunc, newFunc, newListFunc, getAttrs, trigger, indexers)
		if err != nil {
			return delegate, destroy, err
		}
		return answering{delegate, resource, strings.TrimSuffix(resourcePrefix, "/"), g.tracker}, destroy, nil
	}
	return options, nil
}

// answering is the storage for requests.
type answering struct {
	storage.Interface
	resource schema.GroupResource
	prefix   string
	tracker  *Tracker
}

// Get implements storage.Interface. If the object is not in the cache because it cannot be read, it returns the error of the store.
func (s answering) Get(ctx context.Context, key string, options storage.GetOptions, into runtime.Object) error {
	err := s.Interface.Get(ctx, key, options, into)
	if !storage.IsNotFound(err) || options.ResourceVersion == "" {
		return err
	}
	if namespace, name := namesOf([]byte(key)); !s.tracker.has(id{s.resource, namespace, name}) {
		return err
	}
	return s.Interface.Get(ctx, key, storage.GetOptions{}, into)
}

// GetList implements storage.Interface. It adds a warning for the objects that it leaves out.
func (s answering) GetList(ctx context.Context, key string, options storage.ListOptions, list runtime.Object) error {
	namespace := strings.Trim(strings.TrimPrefix(key, s.prefix), "/")
	if names := s.tracker.namesIn(s.resource, namespace); len(names) > 0 {
		warning.AddWarning(ctx, "", fmt.Sprintf("%d stored %s cannot be read and are left out: %s",
			len(names), s.resource.Resource, strings.Join(names[:min(len(names), maxNamed)], ", ")))
	}
	return s.Interface.GetList(ctx, key, options, list)
}
