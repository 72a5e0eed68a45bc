// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package command

import (
	"github.com/spf13/cobra"

	"github.com/sharelinuxs/modelbox-apiserver/hack/localcluster/node"
	"github.com/sharelinuxs/modelbox-apiserver/hack/localcluster/sandbox"
	"github.com/sharelinuxs/modelbox-apiserver/hack/localcluster/workdir"
)

// newSandboxCommand is what a container node is run with.
func newSandboxCommand() *cobra.Command {
	var path string
	var options sandbox.Options
	command := &cobra.Command{
		Use:    node.Command,
		Short:  "Run the programs of a container node, in namespaces that it was started in",
		Hidden: true,
		Args:   cobra.NoArgs,
		RunE: func(command *cobra.Command, _ []string) (err error) {
			if options.Directory, err = workdir.New(path); err != nil {
				return err
			}
			return sandbox.Run(command.Context(), options)
		},
	}
	command.Flags().StringVar(&path, "dir", defaultDir, dirUsage)
	command.Flags().StringVar(&options.NodeName, "name", node.Name, "name of the node")
	return command
}
