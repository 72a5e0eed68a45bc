// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package apiserver

import (
	"net/http"

	"k8s.io/apiserver/pkg/storage/storagebackend"

	"github.com/sharelinuxs/modelbox-apiserver/hack/universe/store"
	modelapiserver "github.com/sharelinuxs/modelbox-apiserver/pkg/apiserver"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/generated/openapi"
)

// storageMediaType is the media type of stored objects.
const storageMediaType = "application/vnd.kubernetes.protobuf"

// NewModelBox returns the handler of the requests for model.github.com, whose objects are in the store.
func NewModelBox(s *store.Store, extra modelapiserver.ExtraConfig) (http.Handler, error) {
	config := &modelapiserver.Config{
		GenericConfig: newConfig(modelapiserver.Codecs, openapi.GetOpenAPIDefinitions, modelapiserver.Scheme),
		ExtraConfig:   extra,
	}
	backend := storagebackend.NewDefaultConfig(modelapiserver.DefaultEtcdPathPrefix, nil)
	factory := modelapiserver.NewStorageFactory(*backend, storageMediaType, config.GenericConfig.EffectiveVersion)
	config.GenericConfig.RESTOptionsGetter = restOptions{factory, s}
	server, err := config.Complete().New()
	if err != nil {
		return nil, err
	}
	return server.Handler, nil
}
