// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package apiserver

import (
	"cmp"
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/runtime/schema"
	serverstorage "k8s.io/apiserver/pkg/server/storage"
	"k8s.io/apiserver/pkg/storage/storagebackend"
	"k8s.io/component-base/compatibility"

	modelrest "github.com/sharelinuxs/modelbox-apiserver/pkg/registry/model/rest"
)

// DefaultEtcdPathPrefix is what the keys of all stored objects begin with. Changing it loses every one of them.
const DefaultEtcdPathPrefix = "/registry"

// NewStorageFactory returns the factory that knows how and under which key each resource is stored. mediaType is that
// of the stored bytes.
func NewStorageFactory(config storagebackend.Config, mediaType string, version compatibility.EffectiveVersion) *serverstorage.DefaultStorageFactory {
	return serverstorage.NewDefaultStorageFactory(
		config,
		mediaType,
		Codecs,
		serverstorage.NewDefaultResourceEncodingConfigForEffectiveVersion(Scheme, version),
		serverstorage.NewResourceConfig(),
		modelrest.ResourcePrefixes(),
	)
}

// StoredResources returns the resources that the server stores, always in the same order.
func StoredResources() []schema.GroupResource {
	return slices.SortedFunc(maps.Keys(modelrest.ResourcePrefixes()), func(a, b schema.GroupResource) int {
		return cmp.Compare(a.String(), b.String())
	})
}
