// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package storage

import (
	"context"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metainternalversion "k8s.io/apimachinery/pkg/apis/meta/internalversion"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/registry/rest"
	"k8s.io/utils/ptr"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model"
	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
)

// Delete deletes a stack. In the foreground, the garbage collector would delete all components at once. One whose
// components are deleted in order stays until they have gone in any case, which is what the foreground means.
func (r *REST) Delete(ctx context.Context, name string, deleteValidation rest.ValidateObjectFunc, options *metav1.DeleteOptions) (runtime.Object, bool, error) {
	if isForeground(options) {
		stack, err := r.Get(ctx, name, &metav1.GetOptions{})
		if err != nil {
			return nil, false, err
		}
		if slices.Contains(stack.(*model.ModelStack).Finalizers, modelv1.OrderedDeletionFinalizer) {
			options = options.DeepCopy()
			options.PropagationPolicy = ptr.To(metav1.DeletePropagationBackground)
		}
	}
	return r.Store.Delete(ctx, name, deleteValidation, options)
}

// DeleteCollection deletes the stacks of a list, each as Delete does.
func (r *REST) DeleteCollection(ctx context.Context, deleteValidation rest.ValidateObjectFunc, options *metav1.DeleteOptions, listOptions *metainternalversion.ListOptions) (runtime.Object, error) {
	if !isForeground(options) {
		return r.Store.DeleteCollection(ctx, deleteValidation, options, listOptions)
	}
	list, err := r.List(ctx, listOptions)
	if err != nil {
		return nil, err
	}
	for i := range list.(*model.ModelStackList).Items {
		name := list.(*model.ModelStackList).Items[i].Name
		if _, _, err := r.Delete(ctx, name, deleteValidation, options.DeepCopy()); err != nil && !apierrors.IsNotFound(err) {
			return nil, err
		}
	}
	return list, nil
}

func isForeground(options *metav1.DeleteOptions) bool {
	return options != nil && ptr.Deref(options.PropagationPolicy, "") == metav1.DeletePropagationForeground
}
