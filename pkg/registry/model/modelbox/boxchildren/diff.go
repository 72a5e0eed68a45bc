// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package boxchildren

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/childkinds"
	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/apply"
	modelboxapply "github.com/sharelinuxs/modelbox-apiserver/pkg/apply/modelbox"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/render"
)

// Differ compares the children of boxes with what the boxes ask for, with the permissions of the server.
type Differ struct {
	client  dynamic.Interface
	planned *modelboxapply.Differ
}

// NewDiffer returns a Differ of the cluster that client reaches.
func NewDiffer(client dynamic.Interface) *Differ {
	return &Differ{client, modelboxapply.NewDiffer()}
}

// Diff returns what the controller plans for the children of the box, of which it has rendered these: for each of them, in their
// order, and after them for those that the box asks for no more. It has all fields that differ, and no effects. It reads nothing of
// kinds for which mayGet is false. It costs a request for each child and one for each kind, and returns the errors of the cluster,
// wrapped in what was being read.
func (d *Differ) Diff(ctx context.Context, box *modelv1.ModelBox, rendered []*unstructured.Unstructured, mayGet func(schema.GroupVersionResource) bool) ([]modelv1.ModelBoxChildDiff, error) {
	live := modelboxapply.NewLiveChildren()
	for _, kind := range childkinds.All() {
		if !mayGet(kind.GroupVersionResource()) {
			live.Hide(kind.GroupVersionKind)
		}
	}
	for _, child := range rendered {
		if kind, isKnown := childkinds.ByGroupVersionKind(child.GroupVersionKind()); isKnown && !live.IsHidden(kind.GroupVersionKind) {
			if err := d.readChild(ctx, live, box, kind, child.GetName()); err != nil {
				return nil, err
			}
		}
	}
	for _, kind := range childkinds.All() {
		if !live.IsHidden(kind.GroupVersionKind) {
			if err := d.readChildren(ctx, live, box, kind); err != nil {
				return nil, err
			}
		}
	}
	return d.planned.Diff(box, rendered, live)
}

// readChild reads the object that has the name of a child of the box.
func (d *Differ) readChild(ctx context.Context, live *modelboxapply.LiveChildren, box *modelv1.ModelBox, kind childkinds.Kind, name string) error {
	object, err := d.client.Resource(kind.GroupVersionResource()).Namespace(box.Namespace).Get(ctx, name, metav1.GetOptions{})
	switch {
	case apierrors.HasStatusCause(err, metav1.CauseTypeUnexpectedServerResponse) && apierrors.IsNotFound(err):
		live.SetNotServed(kind.GroupVersionKind)
		return nil
	case apierrors.IsNotFound(err):
		return nil
	case err != nil:
		return fmt.Errorf("reading %s %s: %w", kind.Kind, name, err)
	}
	child, err := typedChild(kind, object)
	if err != nil {
		return err
	}
	live.SetChild(kind.GroupVersionKind, child)
	return nil
}

// readChildren reads the objects of a kind that have the labels of children of the box.
func (d *Differ) readChildren(ctx context.Context, live *modelboxapply.LiveChildren, box *modelv1.ModelBox, kind childkinds.Kind) error {
	list, err := d.client.Resource(kind.GroupVersionResource()).Namespace(box.Namespace).List(ctx, metav1.ListOptions{
		LabelSelector: labels.SelectorFromSet(labels.Set{modelv1.SelectorLabel: box.Name, render.ManagedByLabel: render.ManagedBy}).String(),
	})
	switch {
	case apierrors.IsNotFound(err): // the cluster does not serve the kind
		return nil
	case err != nil:
		return fmt.Errorf("listing the %s: %w", kind.Resource, err)
	}
	children := make([]apply.Object, 0, len(list.Items))
	for i := range list.Items {
		child, err := typedChild(kind, &list.Items[i])
		if err != nil {
			return err
		}
		children = append(children, child)
	}
	live.SetChildren(kind.GroupVersionKind, children)
	return nil
}

// typedChild returns an object in its Go type, without fields that this release does not know.
func typedChild(kind childkinds.Kind, object *unstructured.Unstructured) (apply.Object, error) {
	typed := kind.New()
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, typed); err != nil {
		return nil, fmt.Errorf("reading %s %s: %w", kind.Kind, object.GetName(), err)
	}
	typed.GetObjectKind().SetGroupVersionKind(kind.GroupVersionKind)
	return typed, nil
}
