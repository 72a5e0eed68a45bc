// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package storage

import (
	"cmp"
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/managedfields"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/endpoints/handlers/fieldmanager"
	genericapirequest "k8s.io/apiserver/pkg/endpoints/request"
	genericregistry "k8s.io/apiserver/pkg/registry/generic/registry"
	"k8s.io/apiserver/pkg/registry/rest"
	"k8s.io/apiserver/pkg/util/dryrun"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model"
	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
)

// boxUpdater changes stored boxes for a subresource. Validation, warnings and admission, that of the cluster included, treat the
// change as an update of the box by the user of the request, and admission may change the box as well.
//
// The request itself remains a create of the subresource, which is all that its user was authorized for: its RequestInfo must not
// say otherwise, because an authorizer reads it to tell what has been authorized already.
type boxUpdater struct {
	store     *genericregistry.Store
	admission admission.Interface
	objects   admission.ObjectInterfaces
	managers  *managedfields.FieldManager
	// manager is the field manager of requests that name none.
	manager string
}

// newBoxUpdater returns what changes boxes for the subresource, whose name the entries of managed fields have.
func newBoxUpdater(scheme *runtime.Scheme, store *genericregistry.Store, subresource string, from *Subresources) (*boxUpdater, error) {
	resetFields := fieldpath.NewExcludeFilterSetMap(store.GetResetFields())
	managers, err := managedfields.NewDefaultFieldManager(from.TypeConverter, scheme, scheme, scheme,
		modelv1.SchemeGroupVersion.WithKind("ModelBox"), model.SchemeGroupVersion, subresource, resetFields)
	if err != nil {
		return nil, fmt.Errorf("creating the field manager of modelboxes/%s: %w", subresource, err)
	}
	return &boxUpdater{store, from.Admission, admission.NewObjectInterfacesFromScheme(scheme), managers, "modelbox-" + subresource}, nil
}

// Update changes the box of the name, and returns it as it is then. It tries again where somebody else changes it at the same
// time. An error of change is returned as it is.
func (u *boxUpdater) Update(ctx context.Context, name string, options *metav1.CreateOptions, change func(box *model.ModelBox) error) (*model.ModelBox, error) {
	updateOptions := &metav1.UpdateOptions{
		DryRun:          options.DryRun,
		FieldManager:    cmp.Or(options.FieldManager, u.manager),
		FieldValidation: options.FieldValidation,
	}
	updateOptions.SetGroupVersionKind(metav1.SchemeGroupVersion.WithKind("UpdateOptions"))
	admit := fieldmanager.NewManagedFieldsValidatingAdmissionController(u.withAudit())
	attributes := func(box, old runtime.Object) admission.Attributes {
		user, _ := genericapirequest.UserFrom(ctx)
		return admission.NewAttributesRecord(box, old, modelv1.SchemeGroupVersion.WithKind("ModelBox"), genericapirequest.NamespaceValue(ctx), name,
			modelv1.SchemeGroupVersion.WithResource("modelboxes"), "", admission.Update, updateOptions, dryrun.IsDryRun(options.DryRun), user)
	}
	info := rest.DefaultUpdatedObjectInfo(nil,
		func(_ context.Context, _, old runtime.Object) (runtime.Object, error) {
			box := old.DeepCopyObject().(*model.ModelBox)
			if box.ResourceVersion == "" {
				return nil, apierrors.NewNotFound(model.Resource("modelboxes"), name)
			}
			return box, change(box)
		},
		func(_ context.Context, box, old runtime.Object) (runtime.Object, error) {
			return u.managers.UpdateNoErrors(old, box, updateOptions.FieldManager), nil
		},
		func(ctx context.Context, box, old runtime.Object) (runtime.Object, error) {
			mutating, ok := admit.(admission.MutationInterface)
			if !ok || !mutating.Handles(admission.Update) {
				return box, nil
			}
			return box, mutating.Admit(ctx, attributes(box, old), u.objects)
		},
	)
	obj, _, err := u.store.Update(ctx, name, info, refuseCreation,
		rest.AdmissionToValidateObjectUpdateFunc(admit, attributes(nil, nil), u.objects), false, updateOptions)
	if err != nil {
		return nil, err
	}
	return obj.(*model.ModelBox), nil
}

// withAudit returns the admission chain, which annotates the audit event of the request.
func (u *boxUpdater) withAudit() admission.Interface {
	if u.admission == nil {
		return nil
	}
	return admission.WithAudit(u.admission)
}

// refuseCreation keeps an update from creating a box.
func refuseCreation(_ context.Context, obj runtime.Object) error {
	return apierrors.NewNotFound(model.Resource("modelboxes"), obj.(*model.ModelBox).Name)
}
