// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

// Package storage holds the REST stores of ModelStacks and their subresources.
package storage

import (
	"context"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	genericapirequest "k8s.io/apiserver/pkg/endpoints/request"
	"k8s.io/apiserver/pkg/registry/generic"
	genericregistry "k8s.io/apiserver/pkg/registry/generic/registry"
	"k8s.io/utils/clock"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model"
	modelboxrest "github.com/sharelinuxs/modelbox-apiserver/pkg/registry/model/modelbox/rest"
	modelboxstorage "github.com/sharelinuxs/modelbox-apiserver/pkg/registry/model/modelbox/storage"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/registry/model/modelstack"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/registry/model/resource"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/registry/model/subresource"
	modelboxrender "github.com/sharelinuxs/modelbox-apiserver/pkg/render/modelbox"
	modelstackrender "github.com/sharelinuxs/modelbox-apiserver/pkg/render/modelstack"
)

// Storage is the main resource and its subresources.
type Storage struct {
	ModelStack *REST
	Status     *resource.StatusREST
	Render     *RenderREST
	Diff       *DiffREST
	Restart    *RestartREST
}

// NewStorage returns stores that share one connection to the storage backend. boxes and diff are the store of boxes and their
// subresource. config has what the subresources of stacks share with the subresources of boxes.
func NewStorage(scheme *runtime.Scheme, optsGetter generic.RESTOptionsGetter, boxes *modelboxstorage.REST, diff *modelboxrest.DiffREST, config modelboxrest.Config) (*Storage, error) {
	getBox := getFromCache(boxes)
	strategy := modelstack.NewStrategy(scheme, boxes.Strategy(), getBox)
	store := &genericregistry.Store{
		NewFunc:                   func() runtime.Object { return &model.ModelStack{} },
		NewListFunc:               func() runtime.Object { return &model.ModelStackList{} },
		PredicateFunc:             modelstack.Match,
		DefaultQualifiedResource:  model.Resource("modelstacks"),
		SingularQualifiedResource: model.Resource("modelstack"),

		CreateStrategy:      strategy,
		UpdateStrategy:      strategy,
		DeleteStrategy:      strategy,
		ResetFieldsStrategy: strategy,

		TableConvertor: modelstack.TableConvertor,
	}
	options := &generic.StoreOptions{RESTOptions: optsGetter, AttrFunc: modelstack.GetAttrs}
	if err := store.CompleteWithOptions(options); err != nil {
		return nil, fmt.Errorf("completing the store of modelstacks: %w", err)
	}

	statusStore := resource.StatusStore(store, modelstack.NewStatusStrategy(strategy))
	restarts, err := subresource.NewUpdater[*model.ModelStack](scheme, store, modelstackrender.Kind, "restart", config.TypeConverter, config.Admission)
	if err != nil {
		return nil, err
	}
	managers, err := subresource.NewFieldManager(scheme, boxes.Store, modelboxrender.Kind, "", config.TypeConverter)
	if err != nil {
		return nil, err
	}
	return &Storage{
		ModelStack: &REST{&resource.REST{Store: store, Kind: model.Kind("ModelStack"), ShortName: "mst", InCategoryAll: true}},
		Status:     resource.NewStatusREST(statusStore, model.Kind("ModelStack")),
		Render:     &RenderREST{store, getBox},
		Diff:       &DiffREST{scheme, store, boxes, diff, managers},
		Restart: &RestartREST{
			Objects: restarts, Resource: model.Resource("modelstacks/restart"), Noun: "stack", Restart: restart,
			Recorder: config.Recorder, Clock: clock.RealClock{},
		},
	}, nil
}

// getFromCache reads a box from the watch cache of its store.
func getFromCache(boxes *modelboxstorage.REST) modelstack.GetBox {
	return func(ctx context.Context, namespace, name string) (*model.ModelBox, error) {
		box, err := boxes.Get(genericapirequest.WithNamespace(ctx, namespace), name, &metav1.GetOptions{ResourceVersion: "0"})
		if err != nil {
			return nil, err
		}
		return box.(*model.ModelBox), nil
	}
}

// REST is the store of the main resource.
type REST struct {
	*resource.REST
}
