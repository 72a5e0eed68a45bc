// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

// Package pause is "kubectl modelbox pause" and "kubectl modelbox resume": kubectl's own commands for rollouts, which set
// spec.paused of boxes and stacks.
package pause

import (
	"github.com/spf13/cobra"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"k8s.io/kubectl/pkg/cmd/rollout"
	cmdutil "k8s.io/kubectl/pkg/cmd/util"
	"k8s.io/kubectl/pkg/util/templates"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/cli/cliutil"
)

const usage = " (-f FILENAME | NAME... | TYPE/NAME...)"

// NewPauseCommand returns the command "kubectl modelbox pause".
func NewPauseCommand(f cmdutil.Factory, streams genericiooptions.IOStreams) *cobra.Command {
	cmd := rollout.NewCmdRolloutPause(f, streams)
	cmd.Use = "pause" + usage
	cmd.Short = "Mark boxes and stacks as paused"
	cmd.Long = "Mark boxes and stacks as paused. The controller does not change the children of a paused box or stack. The " +
		"boxes of a paused stack are still reconciled. Use \"kubectl modelbox resume\" to resume a paused box or stack."
	cmd.Example = templates.Examples(`
		# Mark box web and stack shop as paused
		kubectl modelbox pause web mst/shop

		# Mark all boxes with the tier=front label as paused
		kubectl modelbox pause mb -l tier=front`)
	return adapt(cmd, f)
}

// NewResumeCommand returns the command "kubectl modelbox resume".
func NewResumeCommand(f cmdutil.Factory, streams genericiooptions.IOStreams) *cobra.Command {
	cmd := rollout.NewCmdRolloutResume(f, streams)
	cmd.Use = "resume" + usage
	cmd.Short = "Resume paused boxes and stacks"
	cmd.Long = "Resume paused boxes and stacks. The controller then reconciles them again, with the changes that were made in " +
		"the meantime."
	cmd.Example = templates.Examples(`
		# Resume a paused box
		kubectl modelbox resume web`)
	return adapt(cmd, f)
}

func adapt(cmd *cobra.Command, f cmdutil.Factory) *cobra.Command {
	cliutil.RegisterTypes()
	cmd.ValidArgsFunction = cliutil.CompleteNames(f)
	return cliutil.Adapt(cmd, func(_ *cobra.Command, arguments []string) ([]string, error) {
		return cliutil.Arguments(arguments), nil
	})
}
