// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"
	"fmt"

	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/sharelinuxs/modelbox-apiserver/hack/localcluster/probe"
	"github.com/sharelinuxs/modelbox-apiserver/hack/localcluster/workdir"
)

// Healthy checks whether the API server of the cluster in a directory is ready.
func Healthy(ctx context.Context, d workdir.Dir) error {
	config, err := clientcmd.BuildConfigFromFlags("", d.Kubeconfig())
	if err != nil {
		return fmt.Errorf("reading its kubeconfig: %w", err)
	}
	config.Timeout = probe.Timeout
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return fmt.Errorf("connecting to it: %w", err)
	}
	return client.Discovery().RESTClient().Get().AbsPath("/readyz").Do(ctx).Error()
}
