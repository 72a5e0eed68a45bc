// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package hostclients

import (
	"fmt"
	"time"

	genericapiserver "k8s.io/apiserver/pkg/server"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/rest"
	"k8s.io/utils/clock"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/hostcluster"
)

const (
	// hostClusterHook is what looks at what the cluster serves.
	hostClusterHook = "modelbox-host-cluster"
	// hostClusterTimeout is how long one request for it may take. A document is a few MiB.
	hostClusterTimeout = 30 * time.Second
)

// NewHostCluster returns the cluster that children are in, which is asked for what it serves as long as the server runs.
func NewHostCluster(config *genericapiserver.RecommendedConfig) (*hostcluster.Cluster, error) {
	clientConfig := rest.AddUserAgent(rest.CopyConfig(config.ClientConfig), "host-cluster")
	clientConfig.Timeout = hostClusterTimeout
	client, err := discovery.NewDiscoveryClientForConfig(clientConfig)
	if err != nil {
		return nil, fmt.Errorf("creating a discovery client for the fields of the cluster: %w", err)
	}
	cluster := hostcluster.New(client, clock.RealClock{})
	return cluster, config.AddPostStartHook(hostClusterHook, func(hook genericapiserver.PostStartHookContext) error {
		go cluster.Run(hook)
		return nil
	})
}
