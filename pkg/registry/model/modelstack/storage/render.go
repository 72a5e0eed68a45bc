// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package storage

import (
	"context"
	"errors"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	genericregistry "k8s.io/apiserver/pkg/registry/generic/registry"
	"k8s.io/apiserver/pkg/registry/rest"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model"
	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/registry/model/modelstack"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/registry/model/subresource"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/render"
	modelstackrender "github.com/sharelinuxs/modelbox-apiserver/pkg/render/modelstack"
)

// RenderREST is the render subresource. It returns a List of the children of a stack, each exactly as the controller applies it. It
// renders the stored stack, or a stack in the request, which is not stored. The children of the boxes are in the render subresource
// of each box.
type RenderREST struct {
	store  *genericregistry.Store
	getBox modelstack.GetBox
}

var (
	_ rest.Getter          = &RenderREST{}
	_ rest.NamedCreater    = &RenderREST{}
	_ rest.StorageMetadata = &RenderREST{}
)

// New returns an empty ModelStack, which is what can be sent.
func (*RenderREST) New() runtime.Object { return &model.ModelStack{} }

// Destroy does nothing: the underlying store belongs to REST.
func (*RenderREST) Destroy() {}

// ProducesMIMETypes returns no types in addition to the types of every resource.
func (*RenderREST) ProducesMIMETypes(string) []string { return nil }

// ProducesObject returns a List, whatever the verb.
func (*RenderREST) ProducesObject(string) any { return metav1.List{} }

// Get returns the children of the stored stack.
func (r *RenderREST) Get(ctx context.Context, name string, options *metav1.GetOptions) (runtime.Object, error) {
	obj, err := r.store.Get(ctx, name, options)
	if err != nil {
		return nil, err
	}
	return r.render(ctx, obj.(*model.ModelStack))
}

// Create returns the children of the stack that is sent, which is defaulted and validated as a new one, and not stored. There
// need not be one of the name. It is rendered as if there were no boxes yet, so its UID is missing in its children.
func (r *RenderREST) Create(ctx context.Context, name string, obj runtime.Object, createValidation rest.ValidateObjectFunc, _ *metav1.CreateOptions) (runtime.Object, error) {
	sent, err := subresource.SentAsNew[*model.ModelStack](ctx, r.store, "ModelStack", name, obj, createValidation)
	if err != nil {
		return nil, err
	}
	return r.render(ctx, sent)
}

// render returns the record and the children of all components in the form of the API.
func (r *RenderREST) render(ctx context.Context, stack *model.ModelStack) (*metav1.List, error) {
	served, err := asServed(stack)
	if err != nil {
		return nil, err
	}
	var children []*unstructured.Unstructured
	switch record, err := modelstackrender.Record(served); {
	case err == nil:
		children = append(children, record)
	case !errors.Is(err, render.ErrRecordTooLarge):
		return nil, apierrors.NewInternalError(err)
	}
	renderer := modelstackrender.NewRenderer(served)
	for i := range served.Spec.Components {
		component := &served.Spec.Components[i]
		box, err := r.getBox(ctx, served.Namespace, component.BoxName)
		isAutoscaled := err == nil && isOfStack(box, stack) && isAutoscaled(box, component)
		rendered, err := renderer.Children(component, isAutoscaled)
		if err != nil {
			return nil, apierrors.NewInternalError(fmt.Errorf("rendering the children of %s: %w", served.Name, err))
		}
		children = append(children, rendered...)
	}
	return subresource.NewList(children)
}

// isAutoscaled returns whether the controller leaves the number of pods of the box of a component to an autoscaler, as it has
// written the box.
func isAutoscaled(box *model.ModelBox, component *modelv1.ModelStackComponent) bool {
	return component.Box != nil && component.Box.Replicas != nil && box.Annotations[modelv1.AutoscaledAnnotation] != ""
}

// isOfStack returns whether the box is one of the stack, which is stored.
func isOfStack(box *model.ModelBox, stack *model.ModelStack) bool {
	return render.IsControlledBy(box, stack, modelstackrender.Kind.GroupKind())
}

// asServed returns the stack in the version that is rendered.
func asServed(stack *model.ModelStack) (*modelv1.ModelStack, error) {
	served := &modelv1.ModelStack{}
	if err := modelv1.Convert_model_ModelStack_To_v1_ModelStack(stack.DeepCopy(), served, nil); err != nil {
		return nil, apierrors.NewInternalError(fmt.Errorf("converting %s: %w", stack.Name, err))
	}
	return served, nil
}
