// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

// Package cli is the plugin of kubectl for boxes. Each of its commands is a package of its own, built as those of kubectl are:
// options with Complete, Validate and Run.
package cli

import (
	"github.com/spf13/cobra"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"k8s.io/client-go/rest"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/cli/migrate"
)

// The limits of requests are for the many objects that a command may be about.
const (
	requestsPerSecond = 200
	requestsAtOnce    = 400
)

// NewCommand returns the command "kubectl modelbox" with all its sub-commands.
func NewCommand(streams genericiooptions.IOStreams) *cobra.Command {
	cmd := &cobra.Command{
		Use:          "kubectl-modelbox",
		Short:        "Work with boxes",
		Annotations:  map[string]string{cobra.CommandDisplayNameAnnotation: "kubectl modelbox"},
		SilenceUsage: true,
	}
	cmd.SetIn(streams.In)
	cmd.SetOut(streams.Out)
	cmd.SetErr(streams.ErrOut)
	flags := genericclioptions.NewConfigFlags(true).
		WithDiscoveryQPS(requestsPerSecond).
		WithDiscoveryBurst(requestsAtOnce).
		WithWrapConfigFn(func(config *rest.Config) *rest.Config {
			config.QPS, config.Burst = requestsPerSecond, requestsAtOnce
			return config
		})
	flags.AddFlags(cmd.PersistentFlags())
	cmd.AddCommand(migrate.NewCommand(flags, streams))
	return cmd
}
