// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

// Package storage holds the REST stores of PodDebuggers and their subresource.
package storage

import (
	"context"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/registry/generic"
	genericregistry "k8s.io/apiserver/pkg/registry/generic/registry"
	"k8s.io/apiserver/pkg/registry/rest"
	"k8s.io/apiserver/pkg/warning"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/registry/model/poddebugger"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/registry/resourceversion"
)

// Storage is the main resource and its subresource.
type Storage struct {
	PodDebugger *REST
	Status      *StatusREST
}

// NewStorage returns stores that share one connection to the storage backend.
func NewStorage(scheme *runtime.Scheme, optsGetter generic.RESTOptionsGetter) (*Storage, error) {
	strategy := poddebugger.NewStrategy(scheme)
	store := &genericregistry.Store{
		NewFunc:                   func() runtime.Object { return &model.PodDebugger{} },
		NewListFunc:               func() runtime.Object { return &model.PodDebuggerList{} },
		DefaultQualifiedResource:  model.Resource("poddebuggers"),
		SingularQualifiedResource: model.Resource("poddebugger"),

		CreateStrategy:      strategy,
		UpdateStrategy:      strategy,
		DeleteStrategy:      strategy,
		ResetFieldsStrategy: strategy,

		TableConvertor: poddebugger.TableConvertor{},
	}
	if err := store.CompleteWithOptions(&generic.StoreOptions{RESTOptions: optsGetter}); err != nil {
		return nil, fmt.Errorf("completing the store of PodDebuggers: %w", err)
	}

	statusStrategy := poddebugger.NewStatusStrategy(strategy)
	statusStore := *store
	statusStore.UpdateStrategy = statusStrategy
	statusStore.ResetFieldsStrategy = statusStrategy

	return &Storage{PodDebugger: &REST{store}, Status: &StatusREST{store: &statusStore}}, nil
}

// REST is the store of the main resource.
type REST struct {
	*genericregistry.Store
}

var _ rest.ShortNamesProvider = &REST{}

// Update changes a PodDebugger.
func (r *REST) Update(ctx context.Context, name string, objInfo rest.UpdatedObjectInfo, createValidation rest.ValidateObjectFunc, updateValidation rest.ValidateObjectUpdateFunc, forceAllowCreate bool, options *metav1.UpdateOptions) (runtime.Object, bool, error) {
	return r.Store.Update(ctx, name, resourceversion.Require(model.Kind("PodDebugger"), objInfo), createValidation, updateValidation, forceAllowCreate, options)
}

// Delete deletes a PodDebugger, and tells the user which pods still have its container.
func (r *REST) Delete(ctx context.Context, name string, deleteValidation rest.ValidateObjectFunc, options *metav1.DeleteOptions) (runtime.Object, bool, error) {
	var warnings []string
	// The answer to a deletion is not the object. What is deleted is validated before.
	validate := func(ctx context.Context, object runtime.Object) error {
		if debugger, ok := object.(*model.PodDebugger); ok {
			warnings = poddebugger.WarningsOnDelete(debugger)
		}
		return deleteValidation(ctx, object)
	}
	object, isDeleted, err := r.Store.Delete(ctx, name, validate, options)
	if err == nil {
		for _, text := range warnings {
			warning.AddWarning(ctx, "", text)
		}
	}
	return object, isDeleted, err
}

// ShortNames returns the short name of the resource.
func (*REST) ShortNames() []string { return []string{"pdbg"} }

// StatusREST is the store of the status subresource.
type StatusREST struct {
	store *genericregistry.Store
}

var (
	_ rest.Patcher             = &StatusREST{}
	_ rest.ResetFieldsStrategy = &StatusREST{}
)

// New returns an empty PodDebugger.
func (*StatusREST) New() runtime.Object { return &model.PodDebugger{} }

// Destroy does nothing: the underlying store belongs to REST.
func (*StatusREST) Destroy() {}

// Get returns the PodDebugger whose status is asked for.
func (r *StatusREST) Get(ctx context.Context, name string, options *metav1.GetOptions) (runtime.Object, error) {
	return r.store.Get(ctx, name, options)
}

// Update changes the status of a PodDebugger. It never creates one.
func (r *StatusREST) Update(ctx context.Context, name string, objInfo rest.UpdatedObjectInfo, createValidation rest.ValidateObjectFunc, updateValidation rest.ValidateObjectUpdateFunc, _ bool, options *metav1.UpdateOptions) (runtime.Object, bool, error) {
	return r.store.Update(ctx, name, resourceversion.Require(model.Kind("PodDebugger"), objInfo), createValidation, updateValidation, false, options)
}

// GetResetFields returns the fields that cannot be set here.
func (r *StatusREST) GetResetFields() map[fieldpath.APIVersion]*fieldpath.Set {
	return r.store.GetResetFields()
}

// ConvertToTable prints the PodDebugger.
func (r *StatusREST) ConvertToTable(ctx context.Context, object, tableOptions runtime.Object) (*metav1.Table, error) {
	return r.store.ConvertToTable(ctx, object, tableOptions)
}
