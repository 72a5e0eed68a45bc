// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

// Package storage holds the REST stores of ModelBoxes, of their statuses and of their scales.
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

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/registry/model/modelbox"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/registry/model/resource"
)

// Storage is the main resource, its status and its scale.
type Storage struct {
	ModelBox *REST
	Status   *resource.StatusREST
	Scale    *ScaleREST
}

// NewStorage returns stores that share one connection to the storage backend. authorizer is asked for what the users of
// requests may know of other boxes; validator validates the specs of boxes; getNetwork is
// asked for the networks of boxes.
func NewStorage(scheme *runtime.Scheme, optsGetter generic.RESTOptionsGetter, authorizer authorizer.UnconditionalAuthorizer, validator modelbox.SpecValidator, getNetwork modelbox.GetNetwork) (*Storage, error) {
	store := &genericregistry.Store{}
	strategy := modelbox.NewStrategy(scheme, listAllFromCache(store), getNetwork, authorizer, validator)
	*store = genericregistry.Store{
		NewFunc:                   func() runtime.Object { return &model.ModelBox{} },
		NewListFunc:               func() runtime.Object { return &model.ModelBoxList{} },
		PredicateFunc:             modelbox.Match,
		DefaultQualifiedResource:  model.Resource("modelboxes"),
		SingularQualifiedResource: model.Resource("modelbox"),

		CreateStrategy:      strategy,
		UpdateStrategy:      strategy,
		DeleteStrategy:      strategy,
		ResetFieldsStrategy: strategy,

		TableConvertor: modelbox.TableConvertor,
	}
	options := &generic.StoreOptions{RESTOptions: optsGetter, AttrFunc: modelbox.GetAttrs, Indexers: modelbox.Indexers()}
	if err := store.CompleteWithOptions(options); err != nil {
		return nil, fmt.Errorf("completing the store of modelboxes: %w", err)
	}

	statusStore := resource.StatusStore(store, modelbox.NewStatusStrategy(strategy))
	scaleStore := *store
	scaleStore.UpdateStrategy = modelbox.NewScaleStrategy(strategy)

	return &Storage{
		ModelBox: &REST{&resource.REST{Store: store, Kind: model.Kind("ModelBox"), ShortName: "mb", InCategoryAll: true}},
		Status:   resource.NewStatusREST(statusStore, model.Kind("ModelBox")),
		Scale:    &ScaleREST{store: &scaleStore},
	}, nil
}

// listAllFromCache reads boxes from the watch cache of the store.
func listAllFromCache(store *genericregistry.Store) modelbox.ListAll {
	return func(ctx context.Context) (*model.ModelBoxList, error) {
		ctx = genericapirequest.WithNamespace(ctx, metav1.NamespaceAll)
		list, err := store.List(ctx, &metainternalversion.ListOptions{ResourceVersion: "0"})
		if err != nil {
			return nil, err
		}
		return list.(*model.ModelBoxList), nil
	}
}

// REST is the store of the main resource.
type REST struct {
	*resource.REST
}

// Strategy returns the strategy of the resource.
func (r *REST) Strategy() modelbox.Strategy { return r.CreateStrategy.(modelbox.Strategy) }
