// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"
	"fmt"

	"github.com/sharelinuxs/modelbox-apiserver/hack/localcluster/program"
)

// Kubectl runs kubectl as administrator and returns its output.
func (c *Cluster) Kubectl(ctx context.Context, args ...string) (string, error) {
	// Do not use the cache and the preferences of the user in the home directory.
	output, err := c.Supervisor.Run(ctx, []string{"KUBERC=off"}, c.separateProgram(program.Kubectl), append([]string{
		"--kubeconfig=" + c.Kubeconfig(),
		"--cache-dir=" + c.Run("kubectl-cache"),
	}, args...)...)
	if err != nil {
		return "", fmt.Errorf("kubectl %s: %w", args[0], err)
	}
	return string(output), nil
}
