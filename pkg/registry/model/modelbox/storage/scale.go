// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package storage

import (
	"context"
	"fmt"

	autoscalingv1 "k8s.io/api/autoscaling/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/managedfields"
	"k8s.io/apimachinery/pkg/util/validation/field"
	genericregistry "k8s.io/apiserver/pkg/registry/generic/registry"
	"k8s.io/apiserver/pkg/registry/rest"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model"
	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/registry/resourceversion"
)

// ScaleREST is the scale subresource: spec.replicas of a box in the form that "kubectl scale" and a
// HorizontalPodAutoscaler know. A box that is a DaemonSet, a Job or a CronJob has none.
type ScaleREST struct {
	store *genericregistry.Store
}

var (
	_ rest.Patcher                  = &ScaleREST{}
	_ rest.GroupVersionKindProvider = &ScaleREST{}
)

// replicasPath says where a Scale's replicas are in a box, so that the field keeps its manager when it is
// changed through either.
var replicasPath = managedfields.ResourcePathMappings{
	modelv1.SchemeGroupVersion.String(): fieldpath.MakePathOrDie("spec", "replicas"),
}

// GroupVersionKind returns autoscaling/v1 Scale.
func (*ScaleREST) GroupVersionKind(schema.GroupVersion) schema.GroupVersionKind {
	return autoscalingv1.SchemeGroupVersion.WithKind("Scale")
}

// New returns an empty Scale.
func (*ScaleREST) New() runtime.Object { return &autoscalingv1.Scale{} }

// Destroy does nothing: the underlying store belongs to REST.
func (*ScaleREST) Destroy() {}

// Get returns the scale of a box.
func (r *ScaleREST) Get(ctx context.Context, name string, options *metav1.GetOptions) (runtime.Object, error) {
	obj, err := r.store.Get(ctx, name, options)
	if err != nil {
		return nil, err
	}
	box := obj.(*model.ModelBox)
	if err := checkScalable(box); err != nil {
		return nil, err
	}
	return scaleFromModelBox(box), nil
}

// Update sets the replicas of a box. It never creates one.
func (r *ScaleREST) Update(ctx context.Context, name string, objInfo rest.UpdatedObjectInfo, createValidation rest.ValidateObjectFunc, updateValidation rest.ValidateObjectUpdateFunc, _ bool, options *metav1.UpdateOptions) (runtime.Object, bool, error) {
	obj, _, err := r.store.Update(ctx, name,
		&scaleUpdatedObjectInfo{name: name, scale: objInfo},
		func(ctx context.Context, obj runtime.Object) error {
			return createValidation(ctx, scaleFromModelBox(obj.(*model.ModelBox)))
		},
		func(ctx context.Context, obj, old runtime.Object) error {
			return updateValidation(ctx, scaleFromModelBox(obj.(*model.ModelBox)), scaleFromModelBox(old.(*model.ModelBox)))
		},
		false, options)
	if err != nil {
		return nil, false, err
	}
	return scaleFromModelBox(obj.(*model.ModelBox)), false, nil
}

// ConvertToTable prints the scale with name and age.
func (r *ScaleREST) ConvertToTable(ctx context.Context, object, tableOptions runtime.Object) (*metav1.Table, error) {
	return rest.NewDefaultTableConvertor(model.Resource("modelboxes/scale")).ConvertToTable(ctx, object, tableOptions)
}

// checkScalable returns why a box has no scale, nil if it has one.
func checkScalable(box *model.ModelBox) error {
	if box.Spec.Workload.HasReplicas() {
		return nil
	}
	because := "which runs a pod on every node"
	if box.Spec.Workload.RunsToCompletion() {
		because = "whose pods run until they have succeeded"
	}
	return apierrors.NewBadRequest(fmt.Sprintf("%s %q cannot be scaled: its workload is a %s, %s",
		model.Resource("modelboxes"), box.Name, box.Spec.Workload, because))
}

func scaleFromModelBox(box *model.ModelBox) *autoscalingv1.Scale {
	return &autoscalingv1.Scale{
		ObjectMeta: metav1.ObjectMeta{
			Name:              box.Name,
			Namespace:         box.Namespace,
			UID:               box.UID,
			ResourceVersion:   box.ResourceVersion,
			CreationTimestamp: box.CreationTimestamp,
		},
		Spec: autoscalingv1.ScaleSpec{Replicas: ptr.Deref(box.Spec.Replicas, modelv1.DefaultReplicas)},
		Status: autoscalingv1.ScaleStatus{
			Replicas: box.Status.Replicas,
			Selector: box.Status.Selector,
		},
	}
}

// scaleUpdatedObjectInfo takes a box to its scale, lets the request change that, and takes the change back to the box.
type scaleUpdatedObjectInfo struct {
	name  string
	scale rest.UpdatedObjectInfo
}

func (i *scaleUpdatedObjectInfo) Preconditions() *metav1.Preconditions {
	return i.scale.Preconditions()
}

func (i *scaleUpdatedObjectInfo) UpdatedObject(ctx context.Context, old runtime.Object) (runtime.Object, error) {
	box := old.DeepCopyObject().(*model.ModelBox)
	if box.ResourceVersion == "" {
		return nil, apierrors.NewNotFound(model.Resource("modelboxes/scale"), i.name)
	}
	if err := checkScalable(box); err != nil {
		return nil, err
	}

	managers := managedfields.NewScaleHandler(box.ManagedFields, modelv1.SchemeGroupVersion, replicasPath)
	oldScale := scaleFromModelBox(box)
	entries, err := managers.ToSubresource()
	if err != nil {
		return nil, fmt.Errorf("translating field managers to the scale: %w", err)
	}
	oldScale.ManagedFields = entries

	updated, err := i.scale.UpdatedObject(ctx, oldScale)
	if err != nil {
		return nil, err
	}
	scale, ok := updated.(*autoscalingv1.Scale)
	if !ok {
		return nil, apierrors.NewBadRequest(fmt.Sprintf("expected a Scale, got %T", updated))
	}
	if errs := validateScale(scale); len(errs) > 0 {
		return nil, apierrors.NewInvalid(autoscalingv1.SchemeGroupVersion.WithKind("Scale").GroupKind(), i.name, errs)
	}
	if scale.UID != "" && scale.UID != box.UID {
		return nil, apierrors.NewConflict(model.Resource("modelboxes/scale"), i.name,
			fmt.Errorf("the scale is of uid %s, the box has uid %s", scale.UID, box.UID))
	}

	box.Spec.Replicas = &scale.Spec.Replicas
	box.ResourceVersion = scale.ResourceVersion
	if box.ManagedFields, err = managers.ToParent(scale.ManagedFields); err != nil {
		return nil, fmt.Errorf("translating field managers from the scale: %w", err)
	}
	return box, nil
}

func validateScale(scale *autoscalingv1.Scale) field.ErrorList {
	errs := apivalidation.ValidateNonnegativeField(int64(scale.Spec.Replicas), field.NewPath("spec", "replicas"))
	return append(errs, resourceversion.Validate(scale.ResourceVersion)...)
}
