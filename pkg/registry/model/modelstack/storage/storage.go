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
	"k8s.io/apiserver/pkg/registry/rest"
	"k8s.io/utils/clock"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model"
	modelboxstorage "github.com/sharelinuxs/modelbox-apiserver/pkg/registry/model/modelbox/storage"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/registry/model/modelstack"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/registry/model/subresource"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/registry/resourceversion"
	modelboxrender "github.com/sharelinuxs/modelbox-apiserver/pkg/render/modelbox"
	modelstackrender "github.com/sharelinuxs/modelbox-apiserver/pkg/render/modelstack"
)

// Storage is the main resource and its subresources.
type Storage struct {
	ModelStack *REST
	Status     *StatusREST
	Render     *RenderREST
	Diff       *DiffREST
	Restart    *RestartREST
}

// NewStorage returns stores that share one connection to the storage backend. boxes and diff are the store of boxes and their
// subresource, and subresources has what those of stacks share with them.
func NewStorage(scheme *runtime.Scheme, optsGetter generic.RESTOptionsGetter, boxes *modelboxstorage.REST, diff *modelboxstorage.DiffREST, subresources modelboxstorage.Subresources) (*Storage, error) {
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

		TableConvertor: modelstack.TableConvertor{},
	}
	options := &generic.StoreOptions{RESTOptions: optsGetter, AttrFunc: modelstack.GetAttrs}
	if err := store.CompleteWithOptions(options); err != nil {
		return nil, fmt.Errorf("completing the store of modelstacks: %w", err)
	}

	statusStrategy := modelstack.NewStatusStrategy(strategy)
	statusStore := *store
	statusStore.UpdateStrategy = statusStrategy
	statusStore.ResetFieldsStrategy = statusStrategy

	restarts, err := subresource.NewUpdater[*model.ModelStack](scheme, store, modelstackrender.Kind, "restart", subresources.TypeConverter, subresources.Admission)
	if err != nil {
		return nil, err
	}
	managers, err := subresource.NewFieldManager(scheme, boxes.Store, modelboxrender.Kind, "", subresources.TypeConverter)
	if err != nil {
		return nil, err
	}
	return &Storage{
		ModelStack: &REST{store},
		Status:     &StatusREST{store: &statusStore},
		Render:     &RenderREST{store, getBox},
		Diff:       &DiffREST{scheme, store, boxes, diff, managers},
		Restart: &RestartREST{
			Objects: restarts, Resource: model.Resource("modelstacks/restart"), Noun: "stack", Restart: restart,
			Recorder: subresources.Recorder, Clock: clock.RealClock{},
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
	*genericregistry.Store
}

var (
	_ rest.ShortNamesProvider = &REST{}
	_ rest.CategoriesProvider = &REST{}
)

// Update changes a stack.
func (r *REST) Update(ctx context.Context, name string, objInfo rest.UpdatedObjectInfo, createValidation rest.ValidateObjectFunc, updateValidation rest.ValidateObjectUpdateFunc, forceAllowCreate bool, options *metav1.UpdateOptions) (runtime.Object, bool, error) {
	return r.Store.Update(ctx, name, resourceversion.Require(model.Kind("ModelStack"), objInfo), createValidation, updateValidation, forceAllowCreate, options)
}

// ShortNames returns the short name of the resource.
func (*REST) ShortNames() []string { return []string{"mst"} }

// Categories returns the groups of resources that this one is part of.
func (*REST) Categories() []string { return []string{"all"} }

// StatusREST is the store of the status subresource.
type StatusREST struct {
	store *genericregistry.Store
}

var (
	_ rest.Patcher             = &StatusREST{}
	_ rest.ResetFieldsStrategy = &StatusREST{}
)

// New returns an empty ModelStack.
func (*StatusREST) New() runtime.Object { return &model.ModelStack{} }

// Destroy does nothing: the underlying store belongs to REST.
func (*StatusREST) Destroy() {}

// Get returns the stack whose status is asked for.
func (r *StatusREST) Get(ctx context.Context, name string, options *metav1.GetOptions) (runtime.Object, error) {
	return r.store.Get(ctx, name, options)
}

// Update changes the status of a stack. It never creates one.
func (r *StatusREST) Update(ctx context.Context, name string, objInfo rest.UpdatedObjectInfo, createValidation rest.ValidateObjectFunc, updateValidation rest.ValidateObjectUpdateFunc, _ bool, options *metav1.UpdateOptions) (runtime.Object, bool, error) {
	return r.store.Update(ctx, name, resourceversion.Require(model.Kind("ModelStack"), objInfo), createValidation, updateValidation, false, options)
}

// GetResetFields returns the fields that cannot be set here.
func (r *StatusREST) GetResetFields() map[fieldpath.APIVersion]*fieldpath.Set {
	return r.store.GetResetFields()
}

// ConvertToTable prints the stack.
func (r *StatusREST) ConvertToTable(ctx context.Context, object, tableOptions runtime.Object) (*metav1.Table, error) {
	return r.store.ConvertToTable(ctx, object, tableOptions)
}
