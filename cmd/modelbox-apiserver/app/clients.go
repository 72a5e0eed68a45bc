// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"fmt"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	gatewayclient "sigs.k8s.io/gateway-api/pkg/client/clientset/versioned"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apiserver"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/leaderelection"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/generated/clientset/versioned"
)

// clients are how the controllers reach API servers.
type clients struct {
	// model is for this server, kube for the cluster's, gateway for what that serves of gateway.networking.k8s.io, and dynamic for
	// its kinds that have no Go type here. They write behind the fence.
	model   versioned.Interface
	kube    kubernetes.Interface
	gateway gatewayclient.Interface
	dynamic dynamic.Interface
	// election is for the cluster's and opens the fence: it is not behind it.
	election kubernetes.Interface
}

// newClients returns clients that write behind the fence; nil for none.
func newClients(config *apiserver.Config, fence *leaderelection.Fence) (*clients, error) {
	loopback, kube := clientConfig(config.GenericConfig.LoopbackClientConfig), clientConfig(config.GenericConfig.ClientConfig)
	var c clients
	var err error
	if c.election, err = kubernetes.NewForConfig(kube); err != nil {
		return nil, fmt.Errorf("creating the client for leader election: %w", err)
	}
	if fence != nil {
		loopback.Wrap(fence.Wrap)
		kube.Wrap(fence.Wrap)
	}
	if c.model, err = versioned.NewForConfig(loopback); err != nil {
		return nil, fmt.Errorf("creating the controllers' client of this server: %w", err)
	}
	if c.kube, err = kubernetes.NewForConfig(kube); err != nil {
		return nil, fmt.Errorf("creating the controllers' client of the cluster: %w", err)
	}
	if c.gateway, err = gatewayclient.NewForConfig(inJSON(kube)); err != nil {
		return nil, fmt.Errorf("creating the controllers' client of routes: %w", err)
	}
	if c.dynamic, err = dynamic.NewForConfig(kube); err != nil {
		return nil, fmt.Errorf("creating the controllers' dynamic client of the cluster: %w", err)
	}
	return &c, nil
}

// clientConfig is how the controllers reach an API server: in protobuf, and without a rate limit of their own, for
// priority and fairness of the server at the other end is the limit.
func clientConfig(config *rest.Config) *rest.Config {
	config = rest.AddUserAgent(rest.CopyConfig(config), "modelbox-controller")
	config.QPS = -1
	config.ContentType = runtime.ContentTypeProtobuf
	config.AcceptContentTypes = runtime.ContentTypeProtobuf + "," + runtime.ContentTypeJSON
	return config
}

// inJSON is how the controllers reach what a CustomResourceDefinition defines, which has no protobuf.
func inJSON(config *rest.Config) *rest.Config {
	config = rest.CopyConfig(config)
	config.ContentType, config.AcceptContentTypes = runtime.ContentTypeJSON, ""
	return config
}
