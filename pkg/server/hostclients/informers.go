// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

// Package hostclients has the parts of the server that reach the cluster beside its controllers, each with a client of its own.
package hostclients

import (
	"fmt"
	"time"

	genericapiserver "k8s.io/apiserver/pkg/server"
	genericoptions "k8s.io/apiserver/pkg/server/options"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
)

// clusterResync is the resync period of the core API options.
const clusterResync = 10 * time.Minute

// ApplyCoreAPI does what the core API options do, but for their limit of five requests a second for all of admission: a box
// that is created in a namespace with a quota takes one, and as many as are created at once in a new namespace ask for that.
// As with a kube-apiserver, requests are limited where they come in, by priority and fairness, here and in the cluster.
func ApplyCoreAPI(coreAPI *genericoptions.CoreAPIOptions, config *genericapiserver.RecommendedConfig) error {
	if err := coreAPI.ApplyTo(config); err != nil {
		return fmt.Errorf("applying the cluster options: %w", err)
	}
	config.ClientConfig.QPS = -1
	client, err := kubernetes.NewForConfig(config.ClientConfig)
	if err != nil {
		return fmt.Errorf("creating the client for informers of the cluster: %w", err)
	}
	config.SharedInformerFactory = informers.NewSharedInformerFactory(client, clusterResync)
	return nil
}
