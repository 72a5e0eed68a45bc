// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

// Package exec is "kubectl modelbox exec": kubectl's own command, in a pod of a box.
package exec

import (
	"github.com/spf13/cobra"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	kubectlexec "k8s.io/kubectl/pkg/cmd/exec"
	cmdutil "k8s.io/kubectl/pkg/cmd/util"
	"k8s.io/kubectl/pkg/util/templates"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/cli/cliutil"
)

// NewCommand returns the command "kubectl modelbox exec".
func NewCommand(f cmdutil.Factory, streams genericiooptions.IOStreams) *cobra.Command {
	cliutil.RegisterTypes()
	cmd := kubectlexec.NewCmdExec(f, streams)
	cmd.Use = "exec (NAME | TYPE/NAME | -f FILENAME) [-c CONTAINER] [flags] -- COMMAND [args...]"
	cmd.Short = "Execute a command in a container of a box"
	cmd.Long = "Execute a command in a container of a box. The default is the main container. The command selects a pod of the " +
		"box, and prefers a ready one. You need permission to create pods/exec, as for kubectl exec."
	cmd.Example = templates.Examples(`
		# Get output from running the 'date' command in a pod of box web
		kubectl modelbox exec web -- date

		# Start a shell in a pod of component db of stack shop
		kubectl modelbox exec mst/shop/db -it -- sh

		# Start a shell in container sidecar of box web
		kubectl modelbox exec web -c sidecar -it -- sh

		# Get output from running the 'date' command in a specific pod of box web
		kubectl modelbox exec web --pod=web-557996f76b-nb7ck -- date`)
	cmd.ValidArgsFunction = cliutil.CompleteName(f)
	pod := cliutil.AddPodFlag(cmd, f)
	return cliutil.Adapt(cmd, func(cmd *cobra.Command, arguments []string) (_ []string, err error) {
		cliutil.ChoosePod(cmd.Context(), *pod)
		if len(arguments) > 0 && cmd.ArgsLenAtDash() != 0 {
			arguments[0], err = cliutil.PodsArgument(cmd.Context(), f, arguments[0])
		}
		return arguments, err
	})
}
