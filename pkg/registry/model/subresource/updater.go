// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package subresource

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/managedfields"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/endpoints/handlers/fieldmanager"
	genericapirequest "k8s.io/apiserver/pkg/endpoints/request"
	genericregistry "k8s.io/apiserver/pkg/registry/generic/registry"
	"k8s.io/apiserver/pkg/registry/rest"
	"k8s.io/apiserver/pkg/util/dryrun"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
)

// Updater changes stored objects for a subresource. Validation, warnings and admission, including the admission of the cluster,
// treat the change as an update of the object by the user of the request, and admission may change the object as well.
//
// The request itself remains a create of the subresource. Its user was only authorized for that. Its RequestInfo must not say
// otherwise, because an authorizer reads from it what has been authorized already.
type Updater[T Object] struct {
	// Admission sees the objects that are changed. Nil admits all.
	Admission admission.Interface

	scheme   *runtime.Scheme
	store    *genericregistry.Store
	kind     schema.GroupVersionKind
	managers *managedfields.FieldManager
	// manager is the field manager of requests that name none.
	manager string
}

// NewUpdater returns what changes the objects of the store, which are of the served kind, for the subresource, whose name the
// entries of managed fields have.
func NewUpdater[T Object](scheme *runtime.Scheme, store *genericregistry.Store, kind schema.GroupVersionKind, subresource string, typeConverter managedfields.TypeConverter, admit admission.Interface) (*Updater[T], error) {
	managers, err := NewFieldManager(scheme, store, kind, subresource, typeConverter)
	if err != nil {
		return nil, err
	}
	return &Updater[T]{admit, scheme, store, kind, managers, strings.ToLower(kind.Kind) + "-" + subresource}, nil
}

// NewFieldManager returns what keeps the managed fields of the objects of the store, which are of the served kind, where they are
// changed through the subresource.
func NewFieldManager(scheme *runtime.Scheme, store *genericregistry.Store, kind schema.GroupVersionKind, subresource string, typeConverter managedfields.TypeConverter) (*managedfields.FieldManager, error) {
	hub := schema.GroupVersion{Group: kind.Group, Version: runtime.APIVersionInternal}
	resetFields := fieldpath.NewExcludeFilterSetMap(store.GetResetFields())
	managers, err := managedfields.NewDefaultFieldManager(typeConverter, scheme, scheme, scheme, kind, hub, subresource, resetFields)
	if err != nil {
		return nil, fmt.Errorf("creating the field manager of %s/%s: %w", store.DefaultQualifiedResource.Resource, subresource, err)
	}
	return managers, nil
}

// Get returns the stored object of the name.
func (u *Updater[T]) Get(ctx context.Context, name string) (T, error) {
	obj, err := u.store.Get(ctx, name, &metav1.GetOptions{})
	if err != nil {
		var none T
		return none, err
	}
	return obj.(T), nil
}

// Update changes the object of the name, and returns the changed object. It tries again if another client changes the object at the
// same time. It returns an error of change as it is.
func (u *Updater[T]) Update(ctx context.Context, name string, options *metav1.CreateOptions, change func(object T) error) (T, error) {
	var none T
	updateOptions := &metav1.UpdateOptions{
		DryRun:          options.DryRun,
		FieldManager:    cmp.Or(options.FieldManager, u.manager),
		FieldValidation: options.FieldValidation,
	}
	updateOptions.SetGroupVersionKind(metav1.SchemeGroupVersion.WithKind("UpdateOptions"))
	admit := fieldmanager.NewManagedFieldsValidatingAdmissionController(u.withAudit())
	objects := admission.NewObjectInterfacesFromScheme(u.scheme)
	attributes := func(object, old runtime.Object) admission.Attributes {
		user, _ := genericapirequest.UserFrom(ctx)
		return admission.NewAttributesRecord(object, old, u.kind, genericapirequest.NamespaceValue(ctx), name,
			u.store.DefaultQualifiedResource.WithVersion(u.kind.Version), "", admission.Update, updateOptions, dryrun.IsDryRun(options.DryRun), user)
	}
	notFound := apierrors.NewNotFound(u.store.DefaultQualifiedResource, name)
	info := rest.DefaultUpdatedObjectInfo(nil,
		func(_ context.Context, _, old runtime.Object) (runtime.Object, error) {
			object := old.DeepCopyObject().(T)
			if object.GetResourceVersion() == "" {
				return nil, notFound
			}
			return object, change(object)
		},
		func(_ context.Context, object, old runtime.Object) (runtime.Object, error) {
			return u.managers.UpdateNoErrors(old, object, updateOptions.FieldManager), nil
		},
		func(ctx context.Context, object, old runtime.Object) (runtime.Object, error) {
			mutating, ok := admit.(admission.MutationInterface)
			if !ok || !mutating.Handles(admission.Update) {
				return object, nil
			}
			return object, mutating.Admit(ctx, attributes(object, old), objects)
		},
	)
	refuseCreation := func(context.Context, runtime.Object) error { return notFound }
	obj, _, err := u.store.Update(ctx, name, info, refuseCreation,
		rest.AdmissionToValidateObjectUpdateFunc(admit, attributes(nil, nil), objects), false, updateOptions)
	if err != nil {
		return none, err
	}
	return obj.(T), nil
}

// Served returns the object in the version that is served, of its kind.
func (u *Updater[T]) Served(object T) (runtime.Object, error) {
	return u.scheme.ConvertToVersion(object.DeepCopyObject(), u.kind.GroupVersion())
}

// withAudit returns the admission chain, which annotates the audit event of the request.
func (u *Updater[T]) withAudit() admission.Interface {
	if u.Admission == nil {
		return nil
	}
	return admission.WithAudit(u.Admission)
}
