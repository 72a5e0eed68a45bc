// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package rest

import (
	"context"
	"fmt"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/authorization/authorizer"
	genericregistry "k8s.io/apiserver/pkg/registry/generic/registry"
	"k8s.io/apiserver/pkg/registry/rest"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model"
	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/registry/model/modelbox"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/registry/model/subresource"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/registry/requester"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/render/boxview"
	modelboxrender "github.com/sharelinuxs/modelbox-apiserver/pkg/render/modelbox"
)

// RenderREST is the render subresource: the children that a box asks for, as a List, each exactly as the controller applies
// it, and the Jobs that its rollout still has to run. It is of the stored box, or of one that is sent and not stored.
type RenderREST struct {
	store      *genericregistry.Store
	children   modelbox.ChildReader
	authorizer authorizer.UnconditionalAuthorizer
}

var (
	_ rest.Getter          = &RenderREST{}
	_ rest.NamedCreater    = &RenderREST{}
	_ rest.StorageMetadata = &RenderREST{}
)

// New returns an empty ModelBox, which is what can be sent.
func (*RenderREST) New() runtime.Object { return &model.ModelBox{} }

// Destroy does nothing: the underlying store belongs to REST.
func (*RenderREST) Destroy() {}

// ProducesMIMETypes returns no types in addition to the types of every resource.
func (*RenderREST) ProducesMIMETypes(string) []string { return nil }

// ProducesObject returns a List, whatever the verb.
func (*RenderREST) ProducesObject(string) any { return metav1.List{} }

// Get returns the children of the stored box.
func (r *RenderREST) Get(ctx context.Context, name string, options *metav1.GetOptions) (runtime.Object, error) {
	box, err := servedBox(ctx, r.store, name, options)
	if err != nil {
		return nil, err
	}
	live, err := modelbox.ReadCluster(ctx, func(ctx context.Context) (modelboxrender.Live, error) {
		return r.children.Live(ctx, box, mayGetObject(ctx, r.authorizer, box.Namespace))
	})
	if err != nil {
		return nil, err
	}
	return r.render(box, live)
}

// Create returns the children of the box that is sent, which is defaulted and validated as a new one, and not stored. There
// need not be one of the name. It is rendered as if the cluster had nothing of it yet, so its UID is missing in its children.
func (r *RenderREST) Create(ctx context.Context, name string, obj runtime.Object, createValidation rest.ValidateObjectFunc, _ *metav1.CreateOptions) (runtime.Object, error) {
	sent, err := subresource.SentAsNew[*model.ModelBox](ctx, r.store, "ModelBox", name, obj, createValidation)
	if err != nil {
		return nil, err
	}
	box, err := asServed(sent)
	if err != nil {
		return nil, err
	}
	return r.render(box, modelboxrender.Live{})
}

// render returns the children of the box in the form of the API.
func (r *RenderREST) render(box *modelv1.ModelBox, live modelboxrender.Live) (*metav1.List, error) {
	children, err := modelboxrender.RenderResized(box, live)
	if err != nil {
		return nil, apierrors.NewInternalError(fmt.Errorf("rendering the children of %s: %w", box.Name, err))
	}
	jobs, err := modelboxrender.PendingJobs(box, live)
	if err != nil {
		return nil, apierrors.NewInternalError(fmt.Errorf("rendering the Jobs of %s: %w", box.Name, err))
	}
	known := make([]*unstructured.Unstructured, 0, len(children)+len(jobs))
	for _, child := range slices.Concat(children, jobs) {
		known = append(known, r.children.Known(child))
	}
	return subresource.NewList(known)
}

// mayGetObject returns the function that says whether the user of the request may get the object of that name in the namespace.
func mayGetObject(ctx context.Context, authorizer authorizer.UnconditionalAuthorizer, namespace string) func(schema.GroupVersionResource, string) bool {
	return func(resource schema.GroupVersionResource, name string) bool {
		return requester.CanObject(ctx, authorizer, "get", resource, namespace, name)
	}
}

// servedBox returns the stored box in the version that is served.
func servedBox(ctx context.Context, store *genericregistry.Store, name string, options *metav1.GetOptions) (*modelv1.ModelBox, error) {
	obj, err := store.Get(ctx, name, options)
	if err != nil {
		return nil, err
	}
	return asServed(obj.(*model.ModelBox))
}

// asServed returns the box in the version that is rendered.
func asServed(box *model.ModelBox) (*modelv1.ModelBox, error) {
	served, err := boxview.V1(box.DeepCopy())
	if err != nil {
		return nil, apierrors.NewInternalError(err)
	}
	return served, nil
}
