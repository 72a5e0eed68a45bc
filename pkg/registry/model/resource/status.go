// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package resource

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
	genericregistry "k8s.io/apiserver/pkg/registry/generic/registry"
	"k8s.io/apiserver/pkg/registry/rest"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/validation"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/registry/model/subresource"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/registry/resourceversion"
)

// StatusStrategy is the logic that applies when users update the status of an object of type T.
//
// The update changes the status and the managed fields only: the spec and the other metadata stay, whatever the request says about
// them. It validates the status and not the spec, so that the controller can write the status of every object that exists. It
// returns no warnings: a client that writes a status cannot do anything about the spec. In all else it is the strategy of the main
// resource.
type StatusStrategy[T subresource.Object] struct {
	rest.RESTUpdateStrategy
	keepSpec       func(object, old T)
	validateUpdate func(ctx context.Context, object, old T) field.ErrorList
}

var (
	_ rest.RESTUpdateStrategy  = StatusStrategy[subresource.Object]{}
	_ rest.ResetFieldsStrategy = StatusStrategy[subresource.Object]{}
)

// NewStatusStrategy returns the strategy of the status of the resource whose strategy is main. keepSpec sets the spec of an object
// to the old one, and validateUpdate returns what is wrong with the change of a status.
func NewStatusStrategy[T subresource.Object](main rest.RESTUpdateStrategy, keepSpec func(object, old T), validateUpdate func(ctx context.Context, object, old T) field.ErrorList) StatusStrategy[T] {
	return StatusStrategy[T]{main, keepSpec, validateUpdate}
}

// GetResetFields returns the fields that users cannot set through the status subresource.
func (StatusStrategy[T]) GetResetFields() map[fieldpath.APIVersion]*fieldpath.Set {
	return ResetFields(fieldpath.MakePathOrDie("spec"), fieldpath.MakePathOrDie("metadata"))
}

// PrepareForUpdate keeps everything but the status.
func (s StatusStrategy[T]) PrepareForUpdate(_ context.Context, obj, old runtime.Object) {
	object, oldObject := obj.(T), old.(T)
	s.keepSpec(object, oldObject)
	metav1.ResetObjectMetaForStatus(object, oldObject)
}

// ValidateUpdate returns what is wrong with the change of the status.
func (s StatusStrategy[T]) ValidateUpdate(ctx context.Context, obj, old runtime.Object) field.ErrorList {
	return validation.TruncateErrors(s.validateUpdate(ctx, obj.(T), old.(T)))
}

// WarningsOnUpdate returns no warnings.
func (StatusStrategy[T]) WarningsOnUpdate(context.Context, runtime.Object, runtime.Object) []string {
	return nil
}

// StatusUpdateStrategy is what a store needs for updates of a status.
type StatusUpdateStrategy interface {
	rest.RESTUpdateStrategy
	rest.ResetFieldsStrategy
}

// StatusStore returns a store of the same objects as main, and of the same connection, whose updates change the status.
func StatusStore(main *genericregistry.Store, strategy StatusUpdateStrategy) *genericregistry.Store {
	store := *main
	store.UpdateStrategy = strategy
	store.ResetFieldsStrategy = strategy
	return &store
}

// StatusREST is the status subresource of a resource. It reads and prints objects as the main resource does. Its updates change the
// status of an object, refuse a resourceVersion that no server has returned, and never create an object.
type StatusREST struct {
	store *genericregistry.Store
	kind  schema.GroupKind
}

var (
	_ rest.Patcher             = &StatusREST{}
	_ rest.ResetFieldsStrategy = &StatusREST{}
	_ rest.TableConvertor      = &StatusREST{}
)

// NewStatusREST returns the status subresource of objects of the kind. store is the result of StatusStore.
func NewStatusREST(store *genericregistry.Store, kind schema.GroupKind) *StatusREST {
	return &StatusREST{store, kind}
}

// New returns an empty object.
func (r *StatusREST) New() runtime.Object { return r.store.New() }

// Destroy does nothing: the connection belongs to the main resource.
func (*StatusREST) Destroy() {}

// Get returns the whole object.
func (r *StatusREST) Get(ctx context.Context, name string, options *metav1.GetOptions) (runtime.Object, error) {
	return r.store.Get(ctx, name, options)
}

// Update changes the status of an object that exists.
func (r *StatusREST) Update(ctx context.Context, name string, objInfo rest.UpdatedObjectInfo, createValidation rest.ValidateObjectFunc, updateValidation rest.ValidateObjectUpdateFunc, _ bool, options *metav1.UpdateOptions) (runtime.Object, bool, error) {
	return r.store.Update(ctx, name, resourceversion.Require(r.kind, objInfo), createValidation, updateValidation, false, options)
}

// GetResetFields returns the fields that users cannot set through the status subresource.
func (r *StatusREST) GetResetFields() map[fieldpath.APIVersion]*fieldpath.Set {
	return r.store.GetResetFields()
}

// ConvertToTable prints the object.
func (r *StatusREST) ConvertToTable(ctx context.Context, object, tableOptions runtime.Object) (*metav1.Table, error) {
	return r.store.ConvertToTable(ctx, object, tableOptions)
}
