// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package options

import (
	"fmt"
	"time"

	genericapiserver "k8s.io/apiserver/pkg/server"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/rest"
	"k8s.io/utils/clock"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/admission/hostfields"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/hostcluster"
)

const (
	// hostClusterHook is what looks at what the cluster serves.
	hostClusterHook = "modelbox-host-cluster"
	// hostClusterTimeout is how long one request for it may take. A document is a few MiB.
	hostClusterTimeout = 30 * time.Second
)

// hostFieldsOf returns what the admission plugin goes by: the fields that the cluster knows, which is asked for them as long
// as the server serves.
func hostFieldsOf(config *genericapiserver.RecommendedConfig) (hostfields.Initializer, error) {
	cluster := rest.AddUserAgent(rest.CopyConfig(config.ClientConfig), "host-cluster")
	cluster.Timeout = hostClusterTimeout
	client, err := discovery.NewDiscoveryClientForConfig(cluster)
	if err != nil {
		return hostfields.Initializer{}, fmt.Errorf("creating a discovery client for the fields of the cluster: %w", err)
	}
	initializer := hostfields.Initializer{Cluster: hostcluster.New(client, clock.RealClock{})}
	return initializer, config.AddPostStartHook(hostClusterHook, func(hook genericapiserver.PostStartHookContext) error {
		go initializer.Cluster.Run(hook)
		return nil
	})
}
