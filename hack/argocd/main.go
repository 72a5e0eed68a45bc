// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

// Command argocd runs the components of Argo CD that compare and sync applications. It is for the tests of pkg/e2e/ecosystem. The
// program of Argo CD also has its API server, its user interface and its command line, and takes several times as long to build.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"github.com/alicebob/miniredis/v2"
	controller "github.com/argoproj/argo-cd/v3/cmd/argocd-application-controller/commands"
	reposerver "github.com/argoproj/argo-cd/v3/cmd/argocd-repo-server/commands"
	"github.com/spf13/cobra"
)

func main() {
	root := &cobra.Command{Use: "argocd"}
	root.AddCommand(controller.NewCommand(), reposerver.NewCommand(), newRedisCommand())
	if root.Execute() != nil {
		os.Exit(1)
	}
}

// newRedisCommand returns a command that serves the cache of the components. It is miniredis, which needs no libraries of the system,
// and which the tests of Argo CD use as well.
func newRedisCommand() *cobra.Command {
	return &cobra.Command{
		Use:  "redis <address>",
		Args: cobra.ExactArgs(1),
		RunE: func(command *cobra.Command, arguments []string) error {
			ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT)
			defer stop()
			server := miniredis.NewMiniRedis()
			if err := server.StartAddr(arguments[0]); err != nil {
				return err
			}
			defer server.Close()
			<-ctx.Done()
			return nil
		},
	}
}
