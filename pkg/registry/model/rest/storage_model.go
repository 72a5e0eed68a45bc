// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

// Package rest holds the storage provider of the model.github.com API group: which resources there are, what stores
// them and under which keys.
package rest

import (
	"maps"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apiserver/pkg/authorization/authorizer"
	"k8s.io/apiserver/pkg/registry/generic"
	"k8s.io/apiserver/pkg/registry/rest"
	genericapiserver "k8s.io/apiserver/pkg/server"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model"
	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/registry/model/modelbox"
	modelboxrest "github.com/sharelinuxs/modelbox-apiserver/pkg/registry/model/modelbox/rest"
	modelboxstorage "github.com/sharelinuxs/modelbox-apiserver/pkg/registry/model/modelbox/storage"
	modelstackstorage "github.com/sharelinuxs/modelbox-apiserver/pkg/registry/model/modelstack/storage"
	networkstorage "github.com/sharelinuxs/modelbox-apiserver/pkg/registry/model/network/storage"
	poddebuggerstorage "github.com/sharelinuxs/modelbox-apiserver/pkg/registry/model/poddebugger/storage"
)

// resources has one row for each resource of the group.
var resources = []resource{
	{"networks", StorageProvider.newNetworkStorage},
	{"modelboxes", StorageProvider.newModelBoxStorage},
	{"modelstacks", StorageProvider.newModelStackStorage},
	{"poddebuggers", StorageProvider.newPodDebuggerStorage},
}

type resource struct {
	// name is the plural that paths and the keys of stored objects have. Changing it loses every stored object.
	name string
	// newStorage returns the storage of the resource and of its subresources, by their paths. It gets the storage of the resources
	// in the rows above.
	newStorage func(StorageProvider, generic.RESTOptionsGetter, map[string]rest.Storage) (map[string]rest.Storage, error)
}

// ResourcePrefixes returns the path below the server's prefix in etcd that the objects of each resource are stored at:
// <group>/<resource>, which <namespace>/<name> follows.
func ResourcePrefixes() map[schema.GroupResource]string {
	prefixes := make(map[schema.GroupResource]string, len(resources))
	for _, r := range resources {
		prefixes[model.Resource(r.name)] = model.GroupName + "/" + r.name
	}
	return prefixes
}

// StorageProvider makes the storage of the group.
type StorageProvider struct {
	// Scheme knows the types of the group, and Codecs encodes and decodes them.
	Scheme *runtime.Scheme
	Codecs serializer.CodecFactory
	// Authorizer is asked for what the users of requests may know of other objects.
	Authorizer authorizer.UnconditionalAuthorizer
	// BoxValidator validates the specs of boxes.
	BoxValidator modelbox.SpecValidator
	// BoxSubresources is what the subresources of boxes need.
	BoxSubresources modelboxrest.Config
}

// GroupName returns the name of the group.
func (StorageProvider) GroupName() string { return model.GroupName }

// NewRESTStorage returns the group with the storage of all its resources, ready to be installed.
func (p StorageProvider) NewRESTStorage(optsGetter generic.RESTOptionsGetter) (genericapiserver.APIGroupInfo, error) {
	storage := map[string]rest.Storage{}
	for _, r := range resources {
		byPath, err := r.newStorage(p, optsGetter, storage)
		if err != nil {
			return genericapiserver.APIGroupInfo{}, err
		}
		maps.Copy(storage, byPath)
	}
	group := genericapiserver.NewDefaultAPIGroupInfo(model.GroupName, p.Scheme, runtime.NewParameterCodec(p.Scheme), p.Codecs)
	group.VersionedResourcesStorageMap[modelv1.SchemeGroupVersion.Version] = storage
	return group, nil
}

func (p StorageProvider) newModelBoxStorage(optsGetter generic.RESTOptionsGetter, others map[string]rest.Storage) (map[string]rest.Storage, error) {
	networks := others["networks"].(*networkstorage.REST)
	storage, err := modelboxstorage.NewStorage(p.Scheme, optsGetter, p.Authorizer, p.BoxValidator, networks.GetFromCache)
	if err != nil {
		return nil, err
	}
	subresources, err := modelboxrest.New(p.Scheme, storage.ModelBox, p.Authorizer, p.BoxSubresources)
	if err != nil {
		return nil, err
	}
	return map[string]rest.Storage{
		"modelboxes":        storage.ModelBox,
		"modelboxes/status": storage.Status,
		"modelboxes/scale":  storage.Scale,

		"modelboxes/render":   subresources.Render,
		"modelboxes/diff":     subresources.Diff,
		"modelboxes/restart":  subresources.Restart,
		"modelboxes/retry":    subresources.Retry,
		"modelboxes/promote":  subresources.Promote,
		"modelboxes/abort":    subresources.Abort,
		"modelboxes/history":  subresources.History,
		"modelboxes/rollback": subresources.Rollback,

		"modelboxes/log":         subresources.Log,
		"modelboxes/exec":        subresources.Exec,
		"modelboxes/attach":      subresources.Attach,
		"modelboxes/portforward": subresources.PortForward,
		"modelboxes/debug":       subresources.Debug,
	}, nil
}

func (p StorageProvider) newModelStackStorage(optsGetter generic.RESTOptionsGetter, others map[string]rest.Storage) (map[string]rest.Storage, error) {
	storage, err := modelstackstorage.NewStorage(p.Scheme, optsGetter,
		others["modelboxes"].(*modelboxstorage.REST), others["modelboxes/diff"].(*modelboxrest.DiffREST), p.BoxSubresources)
	if err != nil {
		return nil, err
	}
	return map[string]rest.Storage{
		"modelstacks":        storage.ModelStack,
		"modelstacks/status": storage.Status,

		"modelstacks/render":  storage.Render,
		"modelstacks/diff":    storage.Diff,
		"modelstacks/restart": storage.Restart,
	}, nil
}

func (p StorageProvider) newNetworkStorage(optsGetter generic.RESTOptionsGetter, _ map[string]rest.Storage) (map[string]rest.Storage, error) {
	storage, err := networkstorage.NewStorage(p.Scheme, optsGetter, p.Authorizer)
	if err != nil {
		return nil, err
	}
	return map[string]rest.Storage{
		"networks":        storage.Network,
		"networks/status": storage.Status,
	}, nil
}

func (p StorageProvider) newPodDebuggerStorage(optsGetter generic.RESTOptionsGetter, _ map[string]rest.Storage) (map[string]rest.Storage, error) {
	storage, err := poddebuggerstorage.NewStorage(p.Scheme, optsGetter)
	if err != nil {
		return nil, err
	}
	return map[string]rest.Storage{
		"poddebuggers":        storage.PodDebugger,
		"poddebuggers/status": storage.Status,
	}, nil
}
