// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

// Package cli is the plugin of kubectl for boxes. Each command is a separate package with the structure of the commands of kubectl:
// options with Complete, Validate and Run.
package cli

import (
	"github.com/spf13/cobra"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"k8s.io/cli-runtime/pkg/printers"
	"k8s.io/client-go/rest"
	cmdutil "k8s.io/kubectl/pkg/cmd/util"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/cli/abort"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/cli/attach"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/cli/convert"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/cli/dashboard"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/cli/debug"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/cli/diff"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/cli/doctor"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/cli/exec"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/cli/expose"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/cli/history"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/cli/initialize"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/cli/logs"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/cli/migrate"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/cli/pause"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/cli/portforward"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/cli/promote"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/cli/render"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/cli/restart"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/cli/retry"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/cli/rollback"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/cli/rollout"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/cli/set"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/cli/status"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/cli/top"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/cli/wait"
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
		Short:        "Manage boxes and stacks",
		Annotations:  map[string]string{cobra.CommandDisplayNameAnnotation: "kubectl modelbox"},
		SilenceUsage: true,
	}
	cmd.SetIn(streams.In)
	cmd.SetOut(streams.Out)
	cmd.SetErr(streams.ErrOut)
	warnings := rest.NewWarningWriter(streams.ErrOut, rest.WarningWriterOptions{
		Deduplicate: true, Color: printers.AllowsColorOutput(streams.ErrOut),
	})
	flags := genericclioptions.NewConfigFlags(true).
		WithDiscoveryQPS(requestsPerSecond).
		WithDiscoveryBurst(requestsAtOnce).
		WithWrapConfigFn(func(config *rest.Config) *rest.Config {
			config.QPS, config.Burst = requestsPerSecond, requestsAtOnce
			config.WarningHandler = warnings
			return config
		})
	flags.AddFlags(cmd.PersistentFlags())
	// As in kubectl, whose commands need what is set in the configuration here.
	f := cmdutil.NewFactory(cmdutil.NewMatchVersionFlags(flags))
	cmd.AddCommand(
		abort.NewCommand(f, streams),
		attach.NewCommand(f, streams),
		convert.NewCommand(f, streams),
		dashboard.NewCommand(f, streams),
		debug.NewCommand(f, streams),
		diff.NewCommand(f, streams),
		doctor.NewCommand(f, streams),
		exec.NewCommand(f, streams),
		expose.NewCommand(f, streams),
		history.NewCommand(f, streams),
		initialize.NewCommand(f, streams),
		logs.NewCommand(f, streams),
		migrate.NewCommand(flags, streams),
		pause.NewPauseCommand(f, streams),
		pause.NewResumeCommand(f, streams),
		portforward.NewCommand(f, streams),
		promote.NewCommand(f, streams),
		render.NewCommand(f, streams),
		restart.NewCommand(f, streams),
		retry.NewCommand(f, streams),
		rollback.NewCommand(f, streams),
		rollout.NewCommand(f, streams),
		set.NewCommand(f, streams),
		status.NewCommand(f, streams),
		top.NewCommand(f, streams),
		wait.NewCommand(f, streams),
	)
	return cmd
}
