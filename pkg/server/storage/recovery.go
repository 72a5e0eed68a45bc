// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package storage

import (
	"context"
	"fmt"
	"time"

	genericapiserver "k8s.io/apiserver/pkg/server"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/rest"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/storage/recovery"
)

// recoveryTimeout is how long one request to the cluster may take. A page of records is some 20 MiB at most.
const recoveryTimeout = 30 * time.Second

// SetRecoveryClients sets the clients of the recovery, which reaches the cluster as clientConfig says.
func SetRecoveryClients(config *recovery.Config, clientConfig *rest.Config) error {
	clientConfig = rest.AddUserAgent(rest.CopyConfig(clientConfig), "store-recovery")
	clientConfig.Timeout = recoveryTimeout
	var err error
	if config.KubeClient, err = kubernetes.NewForConfig(clientConfig); err != nil {
		return fmt.Errorf("creating the client of the cluster for the recovery of the store: %w", err)
	}
	if config.MetadataClient, err = metadata.NewForConfig(clientConfig); err != nil {
		return fmt.Errorf("creating the client of the cluster's children for the recovery of the store: %w", err)
	}
	return nil
}

// AddRecovery lets the runner look at the store before the server is ready, and as long as it runs. fail ends the server.
func AddRecovery(config *genericapiserver.Config, runner *recovery.Runner, fail context.CancelCauseFunc) error {
	config.AddReadyzChecks(runner)
	return config.AddPostStartHook(runner.Name(), func(hook genericapiserver.PostStartHookContext) error {
		go func() {
			if err := runner.Run(hook); err != nil {
				fail(fmt.Errorf("recovering the store: %w", err))
			}
		}()
		return nil
	})
}
