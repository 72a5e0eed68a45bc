// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package framework

import (
	"fmt"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/render"
)

// CheckRendered returns nil if the live object matches the rendered object: if applying it again would not change it.
func (n *Namespace) CheckRendered(rendered *unstructured.Unstructured) error {
	what := fmt.Sprintf("%s %s", rendered.GetKind(), rendered.GetName())
	objects := n.Objects(rendered.GroupVersionKind())
	live, err := objects.Get(n.Ctx, rendered.GetName(), metav1.GetOptions{})
	if err != nil {
		return fmt.Errorf("reading %s: %w", what, err)
	}
	options := metav1.ApplyOptions{FieldManager: render.FieldManager, Force: true, DryRun: []string{metav1.DryRunAll}}
	applied, err := objects.Apply(n.Ctx, rendered.GetName(), rendered, options)
	if err != nil {
		return fmt.Errorf("applying %s: %w", what, err)
	}
	if diff := cmp.Diff(comparable(live), comparable(applied)); diff != "" {
		return fmt.Errorf("%s is not as rendered (-is +says):\n%s", what, diff)
	}
	return nil
}

// Objects returns the client of the objects of a kind in the namespace.
func (n *Namespace) Objects(kind schema.GroupVersionKind) dynamic.ResourceInterface {
	resource, _ := meta.UnsafeGuessKindToResource(kind)
	if kind.Kind == "ModelBox" { // meta.UnsafeGuessKindToResource does not know the plural
		resource.Resource = "modelboxes"
	}
	return n.ControlPlane.DynamicClient.Resource(resource).Namespace(n.Name)
}

// comparable returns a copy of the object without fields that change without a request of a user.
func comparable(object *unstructured.Unstructured) map[string]any {
	fields := object.DeepCopy().Object
	delete(fields, "status")
	for _, name := range []string{"managedFields", "resourceVersion", "generation", "uid", "creationTimestamp"} {
		unstructured.RemoveNestedField(fields, "metadata", name)
	}
	return fields
}

// List returns the objects of the resource in the namespace with the labels, none if the cluster does not serve the resource.
func (n *Namespace) List(gvr schema.GroupVersionResource, labels string) ([]unstructured.Unstructured, error) {
	list, err := n.ControlPlane.DynamicClient.Resource(gvr).Namespace(n.Name).List(n.Ctx, metav1.ListOptions{LabelSelector: labels})
	switch {
	case CheckGone(err) == nil:
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("listing %s: %w", gvr.Resource, err)
	}
	return list.Items, nil
}
