// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

// Package apiserver assembles the API groups into a generic API server.
package apiserver

import (
	"fmt"
	"net/http"

	utilnet "k8s.io/apimachinery/pkg/util/net"
	genericapiserver "k8s.io/apiserver/pkg/server"
	"k8s.io/client-go/tools/events"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/hostcluster"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/registry/model/modelbox"
	modelboxrest "github.com/sharelinuxs/modelbox-apiserver/pkg/registry/model/modelbox/rest"
	modelrest "github.com/sharelinuxs/modelbox-apiserver/pkg/registry/model/rest"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/render/boxview"
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
	// NoPrometheus says that there is nothing that the checks of boxes could query.
	NoPrometheus bool
	// WatchesSecrets says that a change of a Secret restarts the boxes that refer to it.
	WatchesSecrets bool
	// HostCluster is the cluster that the children of boxes are in.
	HostCluster *hostcluster.Cluster
	// BoxChildren reads the children and the pods of boxes there.
	BoxChildren modelbox.ChildReader
	// BoxDiffer compares the children of boxes with the rendered ones.
	BoxDiffer modelbox.Differ
	// PodAccess reaches the pods of boxes there.
	PodAccess modelbox.PodAccess
	// Recorder records events about boxes. Nil records none.
	Recorder events.EventRecorder
}

// CompletedConfig can only be had from Config.Complete.
type CompletedConfig struct {
	genericConfig genericapiserver.CompletedConfig
	extraConfig   ExtraConfig
}

// Complete fills in what has not been set. It changes the receiver.
func (c *Config) Complete() CompletedConfig {
	build := c.GenericConfig.BuildHandlerChainFunc
	c.GenericConfig.BuildHandlerChainFunc = func(handler http.Handler, config *genericapiserver.Config) http.Handler {
		return build(withPodTemplates(handler), config)
	}
	return CompletedConfig{genericConfig: c.GenericConfig.Complete(), extraConfig: c.ExtraConfig}
}

// withPodTemplates lets the steps of each request share the pod templates of its boxes.
func withPodTemplates(handler http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		handler.ServeHTTP(w, req.WithContext(boxview.WithPodTemplates(req.Context())))
	})
}

// New returns a server that serves model.github.com, ready to be prepared and run.
func (c CompletedConfig) New() (*genericapiserver.GenericAPIServer, error) {
	server, err := c.genericConfig.New("modelbox-apiserver", genericapiserver.NewEmptyDelegate())
	if err != nil {
		return nil, fmt.Errorf("creating the generic API server: %w", err)
	}

	var group genericapiserver.APIGroupInfo
	provider := modelrest.StorageProvider{
		Scheme:     Scheme,
		Codecs:     Codecs,
		Authorizer: c.genericConfig.Authorization.Authorizer,
		BoxValidator: modelbox.SpecValidator{
			NodePortRange:  c.extraConfig.NodePortRange,
			NoPrometheus:   c.extraConfig.NoPrometheus,
			WatchesSecrets: c.extraConfig.WatchesSecrets,
		},
		BoxSubresources: modelboxrest.Config{
			ChildReader:   c.extraConfig.BoxChildren,
			Differ:        c.extraConfig.BoxDiffer,
			PodAccess:     c.extraConfig.PodAccess,
			Admission:     c.genericConfig.AdmissionControl,
			TypeConverter: newGroupTypeConverter(&group),
			Recorder:      c.extraConfig.Recorder,
		},
	}
	group, err = provider.NewRESTStorage(c.genericConfig.RESTOptionsGetter)
	if err != nil {
		return nil, fmt.Errorf("creating the storage of API group %s: %w", provider.GroupName(), err)
	}
	if err := server.InstallAPIGroup(&group); err != nil {
		return nil, fmt.Errorf("installing API group %s: %w", provider.GroupName(), err)
	}
	return server, nil
}
