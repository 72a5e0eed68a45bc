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

	"github.com/sharelinuxs/modelbox-apiserver/pkg/cli/boxes"
)

const usage = " (-f FILENAME | NAME... | TYPE/NAME...)"

// NewPauseCommand returns the command "kubectl modelbox pause".
func NewPauseCommand(f cmdutil.Factory, streams genericiooptions.IOStreams) *cobra.Command {
	cmd := rollout.NewCmdRolloutPause(f, streams)
	cmd.Use = "pause" + usage
	cmd.Short = "Leave what boxes and stacks have become as it is"
	cmd.Long = "Pause boxes and stacks: what they have become stays as it is, and changes wait until they are resumed. " +
		"A stack that is paused leaves its boxes as they are, which go on themselves."
	cmd.Example = templates.Examples(`
		# Pause box web, and stack shop
		kubectl modelbox pause web mst/shop

		# Pause all boxes with a label
		kubectl modelbox pause mb -l tier=front`)
	return adapt(cmd, f)
}

// NewResumeCommand returns the command "kubectl modelbox resume".
func NewResumeCommand(f cmdutil.Factory, streams genericiooptions.IOStreams) *cobra.Command {
	cmd := rollout.NewCmdRolloutResume(f, streams)
	cmd.Use = "resume" + usage
	cmd.Short = "Resume boxes and stacks that are paused"
	cmd.Long = "Resume boxes and stacks that are paused: all that they have been changed in meanwhile is done."
	cmd.Example = templates.Examples(`
		# Resume box web
		kubectl modelbox resume web`)
	return adapt(cmd, f)
}

func adapt(cmd *cobra.Command, f cmdutil.Factory) *cobra.Command {
	boxes.TeachKubectl()
	cmd.ValidArgsFunction = boxes.CompleteNames(f)
	return boxes.Adapt(cmd, func(_ *cobra.Command, arguments []string) ([]string, error) {
		return boxes.Arguments(arguments), nil
	})
}
