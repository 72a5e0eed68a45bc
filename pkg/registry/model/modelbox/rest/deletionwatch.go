// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package rest

import (
	"context"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metainternalversion "k8s.io/apimachinery/pkg/apis/meta/internalversion"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	genericregistry "k8s.io/apiserver/pkg/registry/generic/registry"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model"
)

// rewatchInterval is how long after a watch of a box has ended there is another one.
const rewatchInterval = time.Second

// awaitDeletion returns true when the box of that name and UID has been deleted, and false when ctx is done before.
func awaitDeletion(ctx context.Context, store *genericregistry.Store, name string, uid types.UID) bool {
	for {
		box, err := store.Get(ctx, name, &metav1.GetOptions{})
		switch {
		case apierrors.IsNotFound(err):
			return true
		case err == nil && box.(*model.ModelBox).UID != uid:
			return true
		case err == nil && isDeletedAfter(ctx, store, box.(*model.ModelBox)):
			return true
		}
		select {
		case <-ctx.Done():
			return false
		case <-time.After(rewatchInterval):
		}
	}
}

// isDeletedAfter watches the box, and returns whether it was deleted before the watch ended.
func isDeletedAfter(ctx context.Context, store *genericregistry.Store, box *model.ModelBox) bool {
	watcher, err := store.Watch(ctx, &metainternalversion.ListOptions{
		FieldSelector:   fields.OneTermEqualSelector(metav1.ObjectNameField, box.Name),
		ResourceVersion: box.ResourceVersion,
	})
	if err != nil {
		return false
	}
	defer watcher.Stop()
	for {
		select {
		case <-ctx.Done():
			return false
		case event, ok := <-watcher.ResultChan():
			if !ok || event.Type == watch.Error {
				return false
			}
			if event.Type == watch.Deleted {
				return true
			}
		}
	}
}
