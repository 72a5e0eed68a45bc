// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package nospace

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/registry/generic"
	"k8s.io/apiserver/pkg/storage"
	"k8s.io/apiserver/pkg/storage/storagebackend"
	"k8s.io/apiserver/pkg/storage/storagebackend/factory"
	"k8s.io/client-go/tools/cache"
)

// failing is storage that returns an error for every write.
type failing struct {
	storage.Interface
	err error
}

func (f failing) Create(context.Context, string, runtime.Object, runtime.Object, uint64) error {
	return f.err
}

func (f failing) GuaranteedUpdate(context.Context, string, runtime.Object, bool, *storage.Preconditions, storage.UpdateFunc, runtime.Object) error {
	return f.err
}

func (f failing) Delete(context.Context, string, runtime.Object, *storage.Preconditions, storage.ValidateObjectFunc, runtime.Object, storage.DeleteOptions) error {
	return f.err
}

func (f failing) GetRESTOptions(schema.GroupResource, runtime.Object) (generic.RESTOptions, error) {
	return generic.RESTOptions{Decorator: func(*storagebackend.ConfigForResource, string, func(runtime.Object) (string, error),
		func() runtime.Object, func() runtime.Object, storage.AttrFunc, storage.IndexerFuncs, *cache.Indexers,
	) (storage.Interface, factory.DestroyFunc, error) {
		return f, func() {}, nil
	}}, nil
}

func TestWritesToAFullEtcdFailWithInsufficientStorage(t *testing.T) {
	other := errors.New("something else")
	for _, row := range []struct {
		name   string
		err    error
		isFull bool
	}{
		{"a full etcd", rpctypes.ErrNoSpace, true},
		{"a full etcd, in a wrapped error", fmt.Errorf("writing: %w", rpctypes.ErrNoSpace), true},
		{"another error", other, false},
		{"success", nil, false},
	} {
		t.Run(row.name, func(t *testing.T) {
			options, err := WithStatus(failing{err: row.err}).GetRESTOptions(schema.GroupResource{}, nil)
			if err != nil {
				t.Fatal(err)
			}
			store, _, err := options.Decorator(nil, "", nil, nil, nil, nil, nil, nil)
			if err != nil {
				t.Fatal(err)
			}
			for verb, err := range map[string]error{
				"create": store.Create(t.Context(), "", nil, nil, 0),
				"update": store.GuaranteedUpdate(t.Context(), "", nil, false, nil, nil, nil),
				"delete": store.Delete(t.Context(), "", nil, nil, nil, nil, storage.DeleteOptions{}),
			} {
				if isFull := apierrors.ReasonForError(err) == ReasonInsufficientStorage; isFull != row.isFull || !isFull && err != row.err {
					t.Errorf("%s: %v", verb, err)
				}
			}
		})
	}
}
