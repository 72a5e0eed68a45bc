// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package reconciler

import (
	"context"
	"encoding/json"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apply"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/timeout"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/render"
)

// SetFinalizers writes the finalizers of this very version of the object. An object that is gone needs none.
func (f *For[T, S]) SetFinalizers(ctx context.Context, object T, finalizers []string) error {
	patch, err := finalizersPatch(object, finalizers)
	if err != nil {
		return err
	}
	patched, err := timeout.Request(ctx, func(ctx context.Context) (T, error) {
		return f.Client(object.GetNamespace()).Patch(ctx, object.GetName(), types.MergePatchType, patch, metav1.PatchOptions{FieldManager: render.FieldManager})
	})
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("writing the finalizers: %w", err)
	}
	f.Consistency.WroteAt(apply.KeyOf(object), object.GetUID(), f.Resource, patched.GetResourceVersion())
	return nil
}

func finalizersPatch(object metav1.Object, finalizers []string) ([]byte, error) {
	patch, err := json.Marshal(map[string]any{"metadata": map[string]any{
		"uid": object.GetUID(), "resourceVersion": object.GetResourceVersion(), "finalizers": finalizers,
	}})
	if err != nil {
		return nil, fmt.Errorf("encoding the finalizers: %w", err)
	}
	return patch, nil
}
