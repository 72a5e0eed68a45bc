// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package storage

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	genericregistry "k8s.io/apiserver/pkg/registry/generic/registry"
	"k8s.io/apiserver/pkg/registry/rest"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model"
)

// sentBox returns the box that was sent to a subresource of the name, which it may leave out.
func sentBox(name string, obj runtime.Object) (*model.ModelBox, error) {
	sent, ok := obj.(*model.ModelBox)
	if !ok {
		return nil, apierrors.NewBadRequest(fmt.Sprintf("expected a ModelBox, got %T", obj))
	}
	if sent.Name == "" {
		sent.Name = name
	}
	if sent.Name != name {
		return nil, apierrors.NewBadRequest(fmt.Sprintf("the name of the object (%s) does not match the name on the URL (%s)", sent.Name, name))
	}
	return sent, nil
}

// newBoxOf returns the box that was sent as it would be stored as a new one, but for what only a stored one has.
func newBoxOf(ctx context.Context, store *genericregistry.Store, name string, obj runtime.Object, createValidation rest.ValidateObjectFunc) (*model.ModelBox, error) {
	sent, err := sentBox(name, obj)
	if err != nil {
		return nil, err
	}
	rest.FillObjectMetaSystemFields(sent)
	if err := rest.BeforeCreate(store.CreateStrategy, ctx, sent); err != nil {
		return nil, err
	}
	sent.UID, sent.CreationTimestamp = "", metav1.Time{}
	if createValidation != nil {
		if err := createValidation(ctx, sent.DeepCopy()); err != nil {
			return nil, err
		}
	}
	return sent, nil
}
