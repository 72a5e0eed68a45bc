// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

// Package rollout is "kubectl modelbox rollout": the commands for rollouts by the names that they have in kubectl, and "status", which
// shows a rollout until it is complete or has failed.
package rollout

import (
	"github.com/spf13/cobra"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	cmdutil "k8s.io/kubectl/pkg/cmd/util"
	"k8s.io/kubectl/pkg/util/templates"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/cli/abort"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/cli/history"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/cli/pause"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/cli/promote"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/cli/restart"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/cli/retry"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/cli/rollback"
)

// NewCommand returns the command "kubectl modelbox rollout".
func NewCommand(f cmdutil.Factory, streams genericiooptions.IOStreams) *cobra.Command {
	cmd := &cobra.Command{
		Use:                   "rollout SUBCOMMAND",
		DisableFlagsInUseLine: true,
		Short:                 "Manage the rollout of boxes and stacks",
		Long: "Manage the rollout of boxes and stacks, with the subcommands of \"kubectl rollout\". Except for status, each subcommand " +
			"is also a command of the plugin: \"rollout undo\" is \"rollback\".",
		Example: templates.Examples(`
			# Watch the rollout of box web
			kubectl modelbox rollout status web

			# Roll back box web to the previous revision
			kubectl modelbox rollout undo web`),
		Run: cmdutil.DefaultSubCommandRun(streams.Out),
	}
	undo := rollback.NewCommand(f, streams)
	undo.Use = "undo" + undo.Use[len(undo.Name()):]
	cmd.AddCommand(
		abort.NewCommand(f, streams),
		history.NewCommand(f, streams),
		pause.NewPauseCommand(f, streams),
		pause.NewResumeCommand(f, streams),
		promote.NewCommand(f, streams),
		restart.NewCommand(f, streams),
		retry.NewCommand(f, streams),
		newStatusCommand(f, streams),
		undo,
	)
	return cmd
}
