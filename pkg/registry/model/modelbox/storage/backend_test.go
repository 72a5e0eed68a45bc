// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package storage

import (
	"testing"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/registry/model/modelbox"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/registry/registrytest"
)

// backend is an etcd that servers keep boxes in.
type backend struct {
	registrytest.Backend
}

// newBackend starts an etcd.
func newBackend(t testing.TB) *backend {
	t.Helper()
	return &backend{*registrytest.NewBackend(t, model.Resource("modelboxes"), &model.ModelBox{})}
}

// newStorage returns the stores of another server, whose watch cache has what is in etcd now.
func (b *backend) newStorage(t testing.TB) *Storage {
	t.Helper()
	storage, err := NewStorage(b.Scheme, b.Options, nil, modelbox.SpecValidator{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	registrytest.Await(t, storage.ModelBox.Store)
	return storage
}

// newStorage returns the stores of the only server of an etcd.
func newStorage(t testing.TB) *Storage {
	t.Helper()
	return newBackend(t).newStorage(t)
}
