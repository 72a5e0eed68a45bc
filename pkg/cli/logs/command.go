// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

// Package logs is "kubectl modelbox logs": kubectl's own command, of the pods of a box.
package logs

import (
	"github.com/spf13/cobra"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	kubectllogs "k8s.io/kubectl/pkg/cmd/logs"
	cmdutil "k8s.io/kubectl/pkg/cmd/util"
	"k8s.io/kubectl/pkg/util/templates"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/cli/boxes"
)

// NewCommand returns the command "kubectl modelbox logs".
func NewCommand(f cmdutil.Factory, streams genericiooptions.IOStreams) *cobra.Command {
	boxes.TeachKubectl()
	cmd := kubectllogs.NewCmdLogs(f, streams)
	cmd.Use = "logs (NAME | TYPE/NAME) [CONTAINER] [flags]"
	cmd.Short = "Print the logs of the pods of a box"
	cmd.Long = "Print the logs of a pod of a box, or with --all-pods of all its pods, by default those of the main container.\n\n" +
		"--follow follows the pods that are there when it starts. The right to get pods/log is needed, as for kubectl logs."
	cmd.Example = templates.Examples(`
		# Print the logs of a pod of box web
		kubectl modelbox logs web

		# Follow the logs of all pods of box web, each line with the name of its pod
		kubectl modelbox logs web --all-pods --follow

		# Print the last 20 lines of container sidecar
		kubectl modelbox logs web -c sidecar --tail=20`)
	cmd.ValidArgsFunction = boxes.CompleteName(f)
	return boxes.Adapt(cmd, func(_ *cobra.Command, arguments []string) ([]string, error) {
		if len(arguments) > 0 {
			arguments[0] = boxes.Argument(arguments[0])
		}
		return arguments, nil
	})
}
