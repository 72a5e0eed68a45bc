// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package command

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/sharelinuxs/modelbox-apiserver/hack/localcluster/node"
	"github.com/sharelinuxs/modelbox-apiserver/hack/localcluster/workdir"
)

func newLoadCommand() *cobra.Command {
	var path string
	command := &cobra.Command{
		Use:   "load ARCHIVE...",
		Short: "Give images to the container node of a running cluster",
		Long: `load gives images to the container node of the cluster that runs in --dir, which
reaches no registry. Each is an OCI archive, and keeps the name it has there.`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(command *cobra.Command, archives []string) error {
			dir, err := workdir.New(path)
			if err != nil {
				return err
			}
			return load(command.Context(), dir, archives)
		},
	}
	command.Flags().StringVar(&path, "dir", defaultDir, dirUsage)
	return command
}

func load(ctx context.Context, dir workdir.Dir, archives []string) error {
	if holder, err := dir.Holder(); err != nil {
		return err
	} else if holder == nil {
		return fmt.Errorf("no cluster runs in %s", dir)
	}
	if !exists(dir.Node()) {
		return errors.New("the cluster has no container node")
	}
	return node.Import(ctx, dir, archives)
}
