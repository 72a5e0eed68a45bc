// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package command

import (
	"github.com/spf13/cobra"

	"github.com/sharelinuxs/modelbox-apiserver/hack/localcluster/node"
	"github.com/sharelinuxs/modelbox-apiserver/hack/localcluster/sandbox"
	"github.com/sharelinuxs/modelbox-apiserver/hack/localcluster/workdir"
)

// newSandboxCommand returns the command that runs a container node.
func newSandboxCommand() *cobra.Command {
	var path string
	command := &cobra.Command{
		Use:    node.Command,
		Short:  "Run the programs of a container node, in namespaces that it was started in",
		Hidden: true,
		Args:   cobra.NoArgs,
		RunE: func(command *cobra.Command, _ []string) error {
			dir, err := workdir.New(path)
			if err != nil {
				return err
			}
			return sandbox.Run(command.Context(), dir)
		},
	}
	command.Flags().StringVar(&path, "dir", defaultDir, dirUsage)
	return command
}
