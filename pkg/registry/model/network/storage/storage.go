// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

// Package storage holds the REST stores of Networks and their subresource.
package storage

import (
	"context"
	"fmt"

	metainternalversion "k8s.io/apimachinery/pkg/apis/meta/internalversion"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/authorization/authorizer"
	genericapirequest "k8s.io/apiserver/pkg/endpoints/request"
	"k8s.io/apiserver/pkg/registry/generic"
	genericregistry "k8s.io/apiserver/pkg/registry/generic/registry"
	"k8s.io/apiserver/pkg/registry/rest"
	"k8s.io/apiserver/pkg/warning"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/registry/model/network"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/registry/model/resource"
)

// Storage is the main resource and its subresource.
type Storage struct {
	Network *REST
	Status  *resource.StatusREST
}

// NewStorage returns stores that share one connection to the storage backend. authorizer is asked for what the users of
// requests may know of other networks.
func NewStorage(scheme *runtime.Scheme, optsGetter generic.RESTOptionsGetter, authorizer authorizer.UnconditionalAuthorizer) (*Storage, error) {
	store := &genericregistry.Store{}
	strategy := network.NewStrategy(scheme, listFromCache(store), authorizer)
	*store = genericregistry.Store{
		NewFunc:                   func() runtime.Object { return &model.Network{} },
		NewListFunc:               func() runtime.Object { return &model.NetworkList{} },
		DefaultQualifiedResource:  model.Resource("networks"),
		SingularQualifiedResource: model.Resource("network"),

		CreateStrategy:      strategy,
		UpdateStrategy:      strategy,
		DeleteStrategy:      strategy,
		ResetFieldsStrategy: strategy,

		TableConvertor: network.TableConvertor,
	}
	if err := store.CompleteWithOptions(&generic.StoreOptions{RESTOptions: optsGetter}); err != nil {
		return nil, fmt.Errorf("completing the store of networks: %w", err)
	}

	statusStore := resource.StatusStore(store, network.NewStatusStrategy(strategy))
	return &Storage{
		Network: &REST{&resource.REST{Store: store, Kind: model.Kind("Network"), ShortName: "mnet"}},
		Status:  resource.NewStatusREST(statusStore, model.Kind("Network")),
	}, nil
}

// listFromCache reads networks from the watch cache of the store.
func listFromCache(store *genericregistry.Store) network.List {
	return func(ctx context.Context, namespace string) (*model.NetworkList, error) {
		ctx = genericapirequest.WithNamespace(ctx, namespace)
		list, err := store.List(ctx, &metainternalversion.ListOptions{ResourceVersion: "0"})
		if err != nil {
			return nil, err
		}
		return list.(*model.NetworkList), nil
	}
}

// REST is the store of the main resource.
type REST struct {
	*resource.REST
}

// GetFromCache returns the network in the watch cache of the store, which can be a moment old.
func (r *REST) GetFromCache(ctx context.Context, namespace, name string) (*model.Network, error) {
	object, err := r.Get(genericapirequest.WithNamespace(ctx, namespace), name, &metav1.GetOptions{ResourceVersion: "0"})
	if err != nil {
		return nil, err
	}
	return object.(*model.Network), nil
}

// Delete deletes a network. If boxes use it, the network is deleted when no box uses it, and a warning names the boxes.
func (r *REST) Delete(ctx context.Context, name string, deleteValidation rest.ValidateObjectFunc, options *metav1.DeleteOptions) (runtime.Object, bool, error) {
	object, isDeleted, err := r.Store.Delete(ctx, name, deleteValidation, options)
	if deleted, ok := object.(*model.Network); ok && err == nil && !isDeleted {
		for _, text := range network.WarningsOnDelete(deleted) {
			warning.AddWarning(ctx, "", text)
		}
	}
	return object, isDeleted, err
}
