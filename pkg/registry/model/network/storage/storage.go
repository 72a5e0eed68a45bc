// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

// Package storage holds the REST store of Networks.
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

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/registry/model/network"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/registry/resourceversion"
)

// REST is the store of the resource.
type REST struct {
	*genericregistry.Store
}

var _ rest.ShortNamesProvider = &REST{}

// NewREST returns the store. authorizer is asked for what the users of requests may know of other networks.
func NewREST(scheme *runtime.Scheme, optsGetter generic.RESTOptionsGetter, authorizer authorizer.UnconditionalAuthorizer) (*REST, error) {
	store := &genericregistry.Store{}
	strategy := network.NewStrategy(scheme, listFromCache(store), authorizer)
	*store = genericregistry.Store{
		NewFunc:                   func() runtime.Object { return &model.Network{} },
		NewListFunc:               func() runtime.Object { return &model.NetworkList{} },
		DefaultQualifiedResource:  model.Resource("networks"),
		SingularQualifiedResource: model.Resource("network"),

		CreateStrategy: strategy,
		UpdateStrategy: strategy,
		DeleteStrategy: strategy,

		TableConvertor: network.TableConvertor{},
	}
	if err := store.CompleteWithOptions(&generic.StoreOptions{RESTOptions: optsGetter}); err != nil {
		return nil, fmt.Errorf("completing the store of networks: %w", err)
	}
	return &REST{store}, nil
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

// Update changes a network.
func (r *REST) Update(ctx context.Context, name string, objInfo rest.UpdatedObjectInfo, createValidation rest.ValidateObjectFunc, updateValidation rest.ValidateObjectUpdateFunc, forceAllowCreate bool, options *metav1.UpdateOptions) (runtime.Object, bool, error) {
	return r.Store.Update(ctx, name, resourceversion.Require(model.Kind("Network"), objInfo), createValidation, updateValidation, forceAllowCreate, options)
}

// ShortNames returns the short name of the resource.
func (*REST) ShortNames() []string { return []string{"mnet"} }
