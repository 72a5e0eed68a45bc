// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

// Package apiserver assembles the API groups into a generic API server.
package apiserver

import (
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	utilnet "k8s.io/apimachinery/pkg/util/net"
	"k8s.io/apiserver/pkg/registry/rest"
	genericapiserver "k8s.io/apiserver/pkg/server"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model"
	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	modelboxstorage "github.com/sharelinuxs/modelbox-apiserver/pkg/registry/model/modelbox/storage"
)

// Config is what the server is made from.
type Config struct {
	GenericConfig *genericapiserver.RecommendedConfig
	ExtraConfig   ExtraConfig
}

// ExtraConfig is what the API groups are made from.
type ExtraConfig struct {
	// NodePortRange is what the cluster gives out. Empty where that is not known: the node ports of boxes are left to
	// the cluster.
	NodePortRange utilnet.PortRange
}

// CompletedConfig can only be had from Config.Complete.
type CompletedConfig struct {
	genericConfig genericapiserver.CompletedConfig
	extraConfig   ExtraConfig
}

// Complete fills in what has not been set. It changes the receiver.
func (c *Config) Complete() CompletedConfig {
	return CompletedConfig{genericConfig: c.GenericConfig.Complete(), extraConfig: c.ExtraConfig}
}

// New returns a server that serves model.github.com, ready to be prepared and run.
func (c CompletedConfig) New() (*genericapiserver.GenericAPIServer, error) {
	server, err := c.genericConfig.New("modelbox-apiserver", genericapiserver.NewEmptyDelegate())
	if err != nil {
		return nil, fmt.Errorf("creating the generic API server: %w", err)
	}

	boxes, err := modelboxstorage.NewStorage(Scheme, c.genericConfig.RESTOptionsGetter, c.genericConfig.Authorization.Authorizer, c.extraConfig.NodePortRange)
	if err != nil {
		return nil, err
	}
	group := genericapiserver.NewDefaultAPIGroupInfo(model.GroupName, Scheme, metav1.ParameterCodec, Codecs)
	group.VersionedResourcesStorageMap[modelv1.SchemeGroupVersion.Version] = map[string]rest.Storage{
		"modelboxes":        boxes.ModelBox,
		"modelboxes/status": boxes.Status,
		"modelboxes/scale":  boxes.Scale,
	}
	if err := server.InstallAPIGroup(&group); err != nil {
		return nil, fmt.Errorf("installing API group %s: %w", model.GroupName, err)
	}
	return server, nil
}
