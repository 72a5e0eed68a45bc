// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package apiserver

import (
	"net/http"

	"k8s.io/apiserver/pkg/registry/generic"
	"k8s.io/apiserver/pkg/storage/storagebackend"
	"k8s.io/apiserver/pkg/util/compatibility"

	"github.com/sharelinuxs/modelbox-apiserver/hack/universe/store"
	modelapiserver "github.com/sharelinuxs/modelbox-apiserver/pkg/apiserver"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/generated/openapi"
)

// ModelBoxPrefix is the prefix of the keys in etcd.
const ModelBoxPrefix = modelapiserver.DefaultEtcdPathPrefix

// storageMediaType is the media type of stored objects.
const storageMediaType = "application/vnd.kubernetes.protobuf"

// NewModelBox returns the handler of the requests for model.github.com, whose objects are in the store.
func NewModelBox(s *store.Store, extra modelapiserver.ExtraConfig) (http.Handler, error) {
	config := &modelapiserver.Config{
		GenericConfig: newConfig(modelapiserver.Codecs, openapi.GetOpenAPIDefinitions, modelapiserver.Scheme),
		ExtraConfig:   extra,
	}
	config.GenericConfig.RESTOptionsGetter = ModelBoxStorage(s)
	server, err := config.Complete().New()
	if err != nil {
		return nil, err
	}
	return server.Handler, nil
}

// ModelBoxStorage returns the options of the registries of model.github.com, whose objects are in the store. In etcd, their keys have the
// prefix ModelBoxPrefix.
func ModelBoxStorage(s *store.Store) generic.RESTOptionsGetter {
	backend := storagebackend.NewDefaultConfig(ModelBoxPrefix, nil)
	return restOptions{modelapiserver.NewStorageFactory(*backend, storageMediaType, compatibility.DefaultBuildEffectiveVersion()), s}
}
