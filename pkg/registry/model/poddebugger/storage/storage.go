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

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/registry/model/poddebugger"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/registry/model/resource"
)

// Storage is the main resource and its subresource.
type Storage struct {
	PodDebugger *REST
	Status      *resource.StatusREST
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

		TableConvertor: poddebugger.TableConvertor,
	}
	if err := store.CompleteWithOptions(&generic.StoreOptions{RESTOptions: optsGetter}); err != nil {
		return nil, fmt.Errorf("completing the store of PodDebuggers: %w", err)
	}

	statusStore := resource.StatusStore(store, poddebugger.NewStatusStrategy(strategy))
	return &Storage{
		PodDebugger: &REST{&resource.REST{Store: store, Kind: model.Kind("PodDebugger"), ShortName: "pdbg"}},
		Status:      resource.NewStatusREST(statusStore, model.Kind("PodDebugger")),
	}, nil
}

// REST is the store of the main resource.
type REST struct {
	*resource.REST
}

// Delete deletes a PodDebugger, and tells the user which pods still have its container.
func (r *REST) Delete(ctx context.Context, name string, deleteValidation rest.ValidateObjectFunc, options *metav1.DeleteOptions) (runtime.Object, bool, error) {
	var warnings []string
	// The response to a deletion is not the object. The deletion is validated before.
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
