// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

// Package attach is "kubectl modelbox attach": kubectl's own command, to a pod of a box.
package attach

import (
	"github.com/spf13/cobra"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	kubectlattach "k8s.io/kubectl/pkg/cmd/attach"
	cmdutil "k8s.io/kubectl/pkg/cmd/util"
	"k8s.io/kubectl/pkg/util/templates"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/cli/cliutil"
)

// NewCommand returns the command "kubectl modelbox attach".
func NewCommand(f cmdutil.Factory, streams genericiooptions.IOStreams) *cobra.Command {
	cliutil.RegisterTypes()
	cmd := kubectlattach.NewCmdAttach(f, streams)
	cmd.Use = "attach (NAME | TYPE/NAME) [-c CONTAINER] [flags]"
	cmd.Short = "Attach to a running container of a box"
	cmd.Long = "Attach to a process that is already running in a container of a box. The default is the main container. The " +
		"command selects a pod of the box, and prefers a ready one. You need permission to create pods/attach, as for kubectl " +
		"attach."
	cmd.Example = templates.Examples(`
		# Get output from the main container of box web
		kubectl modelbox attach web

		# Attach a terminal to container shell of box web
		kubectl modelbox attach web -c shell -it

		# Get output from a specific pod of box web
		kubectl modelbox attach web --pod=web-557996f76b-nb7ck`)
	cmd.ValidArgsFunction = cliutil.CompleteName(f)
	pod := cliutil.AddPodFlag(cmd, f)
	return cliutil.Adapt(cmd, func(cmd *cobra.Command, arguments []string) (_ []string, err error) {
		cliutil.ChoosePod(cmd.Context(), *pod)
		if len(arguments) > 0 {
			arguments[0], err = cliutil.PodsArgument(cmd.Context(), f, arguments[0])
		}
		return arguments, err
	})
}
