// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package rest

import (
	"context"
	"fmt"

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
	modelboxrender "github.com/sharelinuxs/modelbox-apiserver/pkg/render/modelbox"
)

// maxDiffFields is how many fields of a child are shown.
const maxDiffFields = 200

// DiffREST is the diff subresource: how the live children of a box differ from those that it asks for, and what becomes of each.
// It is of the stored box, or of one that is sent and not stored.
type DiffREST struct {
	store      *genericregistry.Store
	children   modelbox.ChildReader
	differ     modelbox.Differ
	authorizer authorizer.UnconditionalAuthorizer
}

var (
	_ rest.Getter          = &DiffREST{}
	_ rest.NamedCreater    = &DiffREST{}
	_ rest.StorageMetadata = &DiffREST{}
)

// New returns an empty ModelBox, which is what can be sent.
func (*DiffREST) New() runtime.Object { return &model.ModelBox{} }

// Destroy does nothing: the underlying store belongs to REST.
func (*DiffREST) Destroy() {}

// ProducesMIMETypes returns no types in addition to the types of every resource.
func (*DiffREST) ProducesMIMETypes(string) []string { return nil }

// ProducesObject returns a ModelBoxDiff, whatever the verb.
func (*DiffREST) ProducesObject(string) any { return modelv1.ModelBoxDiff{} }

// Get compares with the stored box: what differs is drift, or not applied yet.
func (r *DiffREST) Get(ctx context.Context, name string, options *metav1.GetOptions) (runtime.Object, error) {
	obj, err := r.store.Get(ctx, name, options)
	if err != nil {
		return nil, err
	}
	box := obj.(*model.ModelBox)
	return r.diff(ctx, box, box)
}

// Create compares with the box that is sent, which is defaulted and validated as an update of the stored one, or as a new one
// where there is none of the name, and not stored.
func (r *DiffREST) Create(ctx context.Context, name string, obj runtime.Object, createValidation rest.ValidateObjectFunc, _ *metav1.CreateOptions) (runtime.Object, error) {
	stored, err := r.store.Get(ctx, name, &metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		sent, err := subresource.SentAsNew[*model.ModelBox](ctx, r.store, "ModelBox", name, obj, createValidation)
		if err != nil {
			return nil, err
		}
		return r.diff(ctx, sent, sent)
	}
	if err != nil {
		return nil, err
	}
	old := stored.(*model.ModelBox)
	sent, err := subresource.SentAsUpdate(ctx, r.store, "ModelBox", old, obj, createValidation)
	if err != nil {
		return nil, err
	}
	return r.diff(ctx, sent, old)
}

// diff compares the live children with those that the box asks for, which was old before.
func (r *DiffREST) diff(ctx context.Context, box, old *model.ModelBox) (*model.ModelBoxDiff, error) {
	served, err := asServed(box)
	if err != nil {
		return nil, err
	}
	mayGet := func(resource schema.GroupVersionResource) bool {
		return requester.Can(ctx, r.authorizer, "get", resource, box.Namespace)
	}
	var resize *modelboxrender.Resize
	var jobs []*unstructured.Unstructured
	children, err := modelbox.ReadCluster(ctx, func(ctx context.Context) ([]modelv1.ModelBoxChildDiff, error) {
		live, err := r.children.Live(ctx, served, mayGetObject(ctx, r.authorizer, box.Namespace))
		if err != nil {
			return nil, err
		}
		if live.BeginsResize, err = modelboxrender.BeginsResize(served, live); err != nil {
			return nil, fmt.Errorf("comparing the resources of the pods of %s: %w", box.Name, err)
		}
		if resize, err = modelboxrender.ResizeOf(served, live); err != nil {
			return nil, fmt.Errorf("comparing the resources of the pods of %s: %w", box.Name, err)
		}
		rendered, err := modelboxrender.RenderResized(served, live)
		if err != nil {
			return nil, fmt.Errorf("rendering the children of %s: %w", box.Name, err)
		}
		known := make([]*unstructured.Unstructured, 0, len(rendered))
		for _, child := range rendered {
			known = append(known, r.children.Known(child))
		}
		if jobs, err = modelboxrender.PendingJobs(served, live); err != nil {
			return nil, fmt.Errorf("rendering the Jobs of %s: %w", box.Name, err)
		}
		return r.differ.Diff(ctx, served, known, mayGet)
	})
	if err != nil {
		return nil, err
	}
	for i := range children {
		child := &children[i]
		child.Effect = modelbox.DiffEffect(box, old, child, resize)
		if omitted := len(child.Fields) - maxDiffFields; omitted > 0 {
			child.Fields, child.OmittedFields = child.Fields[:maxDiffFields], int32(omitted)
		}
	}
	children = append(children, modelbox.DiffJobs(box, served.Status.Rollout, jobs)...)
	diff := &model.ModelBoxDiff{}
	answer := &modelv1.ModelBoxDiff{
		ObjectMeta: metav1.ObjectMeta{
			Name: box.Name, Namespace: box.Namespace, UID: old.UID, ResourceVersion: old.ResourceVersion, CreationTimestamp: old.CreationTimestamp,
		},
		Paused:   box.Spec.Paused,
		Children: children,
	}
	if err := modelv1.Convert_v1_ModelBoxDiff_To_model_ModelBoxDiff(answer, diff, nil); err != nil {
		return nil, apierrors.NewInternalError(fmt.Errorf("converting the diff of %s: %w", box.Name, err))
	}
	return diff, nil
}
