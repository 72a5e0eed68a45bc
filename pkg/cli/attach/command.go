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

	"github.com/sharelinuxs/modelbox-apiserver/pkg/cli/boxes"
)

// NewCommand returns the command "kubectl modelbox attach".
func NewCommand(f cmdutil.Factory, streams genericiooptions.IOStreams) *cobra.Command {
	boxes.TeachKubectl()
	cmd := kubectlattach.NewCmdAttach(f, streams)
	cmd.Use = "attach (NAME | TYPE/NAME) [-c CONTAINER] [flags]"
	cmd.Short = "Attach to what runs in a container of a box"
	cmd.Long = "Attach to the process that runs in a container of a box, by default in the main one. Of the pods of the box, one that " +
		"runs and is ready is preferred. The right to create pods/attach is needed, as for kubectl attach."
	cmd.Example = templates.Examples(`
		# See what the main container of box web prints from now on
		kubectl modelbox attach web

		# Have the terminal of container shell
		kubectl modelbox attach web -c shell -it

		# To a pod of box web that is named
		kubectl modelbox attach web --pod=web-557996f76b-nb7ck`)
	cmd.ValidArgsFunction = boxes.CompleteName(f)
	pod := boxes.AddPodFlag(cmd, f)
	return boxes.Adapt(cmd, func(cmd *cobra.Command, arguments []string) (_ []string, err error) {
		boxes.ChoosePod(cmd.Context(), *pod)
		if len(arguments) > 0 {
			arguments[0], err = boxes.PodsArgument(cmd.Context(), f, arguments[0])
		}
		return arguments, err
	})
}
