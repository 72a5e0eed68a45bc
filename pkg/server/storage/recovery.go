// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package storage

import (
	"context"
	"fmt"

	genericapiserver "k8s.io/apiserver/pkg/server"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/storage/recovery"
)

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
