// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

// Package subresource has what the subresources of several resources share.
package subresource

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	genericregistry "k8s.io/apiserver/pkg/registry/generic/registry"
	"k8s.io/apiserver/pkg/registry/rest"
)

// Object is one of the objects that have subresources, in its internal type.
type Object interface {
	runtime.Object
	metav1.Object
}

// Sent returns the object of the kind that was sent to a subresource of the name, which it may leave out.
func Sent[T Object](kind, name string, obj runtime.Object) (T, error) {
	sent, ok := obj.(T)
	if !ok {
		return sent, apierrors.NewBadRequest(fmt.Sprintf("expected a %s, got %T", kind, obj))
	}
	if sent.GetName() == "" {
		sent.SetName(name)
	}
	if sent.GetName() != name {
		return sent, apierrors.NewBadRequest(fmt.Sprintf("the name of the object (%s) does not match the name on the URL (%s)", sent.GetName(), name))
	}
	return sent, nil
}

// SentAsNew returns the object that was sent as it would be stored as a new one, but for what only a stored one has.
func SentAsNew[T Object](ctx context.Context, store *genericregistry.Store, kind, name string, obj runtime.Object, createValidation rest.ValidateObjectFunc) (T, error) {
	sent, err := Sent[T](kind, name, obj)
	if err != nil {
		return sent, err
	}
	rest.FillObjectMetaSystemFields(sent)
	if err := rest.BeforeCreate(store.CreateStrategy, ctx, sent); err != nil {
		return sent, err
	}
	sent.SetUID("")
	sent.SetCreationTimestamp(metav1.Time{})
	return sent, Validate(ctx, sent, createValidation)
}

// SentAsUpdate returns the object that was sent as it would be stored in place of the old one.
func SentAsUpdate[T Object](ctx context.Context, store *genericregistry.Store, kind string, old T, obj runtime.Object, createValidation rest.ValidateObjectFunc) (T, error) {
	sent, err := Sent[T](kind, old.GetName(), obj)
	if err != nil {
		return sent, err
	}
	sent.SetResourceVersion(old.GetResourceVersion())
	if err := rest.BeforeUpdate(store.UpdateStrategy, ctx, sent, old.DeepCopyObject()); err != nil {
		return sent, err
	}
	return sent, Validate(ctx, sent, createValidation)
}

// Validate has a copy of what was sent validated. A nil createValidation accepts everything.
func Validate(ctx context.Context, sent runtime.Object, createValidation rest.ValidateObjectFunc) error {
	if createValidation == nil {
		return nil
	}
	return createValidation(ctx, sent.DeepCopyObject())
}

// AnswerMeta returns what an answer about an object has of its metadata.
func AnswerMeta(object metav1.Object) metav1.ObjectMeta {
	return metav1.ObjectMeta{
		Name: object.GetName(), Namespace: object.GetNamespace(), UID: object.GetUID(),
		ResourceVersion: object.GetResourceVersion(), CreationTimestamp: object.GetCreationTimestamp(),
	}
}
