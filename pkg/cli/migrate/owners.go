// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package migrate

import (
	"context"
	"fmt"
	"reflect"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/util/retry"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/cli/adopt"
)

// resource returns the client of the resource that an object is of.
func (c *clients) resource(object *unstructured.Unstructured) (dynamic.ResourceInterface, error) {
	kind := object.GroupVersionKind()
	mapping, err := c.mapper.RESTMapping(kind.GroupKind(), kind.Version)
	if err != nil {
		return nil, fmt.Errorf("finding the resource of %s: %w", kind, err)
	}
	return c.dynamic.Resource(mapping.Resource).Namespace(object.GetNamespace()), nil
}

// live returns the current state of the child with the exported UID, nil if it is gone.
func (c *clients) live(ctx context.Context, child *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	client, err := c.resource(child)
	if err != nil {
		return nil, err
	}
	live, err := client.Get(ctx, child.GetName(), metav1.GetOptions{})
	if apierrors.IsNotFound(err) || err == nil && live.GetUID() != child.GetUID() {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("reading %s %s: %w", child.GetKind(), child.GetName(), err)
	}
	return live, nil
}

// ownersOtherThan returns the owner references of an object without those to the UID.
func ownersOtherThan(object metav1.Object, uid types.UID) []metav1.OwnerReference {
	var others []metav1.OwnerReference
	for _, reference := range object.GetOwnerReferences() {
		if reference.UID != uid {
			others = append(others, reference)
		}
	}
	return others
}

// setOwners gives the live child these owners.
func (o *options) setOwners(ctx context.Context, live *unstructured.Unstructured, owners []metav1.OwnerReference) error {
	if len(owners) == len(live.GetOwnerReferences()) && (len(owners) == 0 || reflect.DeepEqual(owners, live.GetOwnerReferences())) {
		return nil
	}
	if !o.dryRun.sends() {
		return nil
	}
	client, err := o.clients.resource(live)
	if err != nil {
		return err
	}
	// With the resourceVersion, the patch fails if another client has changed the owners meanwhile.
	data, err := adopt.Patch(live.GetUID(), map[string]any{"metadata": map[string]any{
		"ownerReferences": owners,
		"resourceVersion": live.GetResourceVersion(),
	}})
	if err != nil {
		return err
	}
	if _, err := client.Patch(ctx, live.GetName(), types.MergePatchType, data, o.patchOptions()); err != nil {
		return fmt.Errorf("updating the owner references of %s %s/%s: %w", live.GetKind(), live.GetNamespace(), live.GetName(), err)
	}
	return nil
}

// eachChild calls do for each child that still exists, and again if another client changes the child at the same time.
func (o *options) eachChild(ctx context.Context, box *exportedBox, do func(exported, live *unstructured.Unstructured) error) error {
	for _, child := range box.children {
		err := retry.RetryOnConflict(retry.DefaultBackoff, func() error {
			live, err := o.clients.live(ctx, child)
			if err != nil || live == nil {
				return err
			}
			return do(child, live)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// orphan removes the box from the owners of its children, so that they continue to run whether the garbage collector asks the
// cluster or the server for the box.
func (o *options) orphan(ctx context.Context, box *exportedBox) error {
	return o.eachChild(ctx, box, func(_, live *unstructured.Unstructured) error {
		return o.setOwners(ctx, live, ownersOtherThan(live, box.UID))
	})
}

// checkOrphans returns an error if a box owns its children again. Only its operator gives them back.
func (c *clients) checkOrphans(ctx context.Context, exported []*exportedBox) error {
	return inParallel(ctx, exported, func(ctx context.Context, box *exportedBox) error {
		for _, child := range box.children {
			live, err := c.live(ctx, child)
			if err != nil {
				return err
			}
			if live != nil && len(ownersOtherThan(live, box.UID)) != len(live.GetOwnerReferences()) {
				return fmt.Errorf("%s %s/%s has its owner reference to the box again: stop the operator", child.GetKind(), child.GetNamespace(), child.GetName())
			}
		}
		return nil
	})
}

// giveBack makes the custom resource the owner of its children again, as it was.
func (o *options) giveBack(ctx context.Context, box *exportedBox) error {
	return o.eachChild(ctx, box, func(exported, live *unstructured.Unstructured) error {
		return o.setOwners(ctx, live, exported.GetOwnerReferences())
	})
}

// setFinalizers gives the custom resource these finalizers.
func (o *options) setFinalizers(ctx context.Context, box *exportedBox, finalizers []string) error {
	if len(box.object.GetFinalizers()) == 0 || !o.dryRun.sends() {
		return nil
	}
	data, err := adopt.Patch(box.UID, map[string]any{"metadata": map[string]any{"finalizers": finalizers}})
	if err != nil {
		return err
	}
	_, err = o.clients.dynamic.Resource(boxes).Namespace(box.Namespace).Patch(ctx, box.Name, types.MergePatchType, data, o.patchOptions())
	if err != nil {
		return fmt.Errorf("updating the finalizers of %s: %w", box, err)
	}
	return nil
}
