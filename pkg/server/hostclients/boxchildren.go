// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package hostclients

import (
	"fmt"

	genericapiserver "k8s.io/apiserver/pkg/server"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/hostcluster"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/registry/model/modelbox/boxchildren"
)

// NewBoxChildren returns the reader of the children of boxes for requests, and the differ that compares them with their render.
func NewBoxChildren(config *genericapiserver.RecommendedConfig, host *hostcluster.Cluster) (*boxchildren.Reader, *boxchildren.Differ, error) {
	clientConfig := rest.AddUserAgent(rest.CopyConfig(config.ClientConfig), "box-children")
	client, err := kubernetes.NewForConfig(clientConfig)
	if err != nil {
		return nil, nil, fmt.Errorf("creating the client for the children of boxes: %w", err)
	}
	dynamicClient, err := dynamic.NewForConfig(clientConfig)
	if err != nil {
		return nil, nil, fmt.Errorf("creating the dynamic client for the children of boxes: %w", err)
	}
	return boxchildren.NewReader(client, host), boxchildren.NewDiffer(dynamicClient), nil
}
