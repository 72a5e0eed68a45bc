// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

// Package portforward is "kubectl modelbox port-forward": kubectl's own command, to the ports of a box.
package portforward

import (
	"github.com/spf13/cobra"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	kubectlportforward "k8s.io/kubectl/pkg/cmd/portforward"
	cmdutil "k8s.io/kubectl/pkg/cmd/util"
	"k8s.io/kubectl/pkg/util/templates"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/cli/cliutil"
)

// NewCommand returns the command "kubectl modelbox port-forward".
func NewCommand(f cmdutil.Factory, streams genericiooptions.IOStreams) *cobra.Command {
	cliutil.RegisterTypes()
	cmd := kubectlportforward.NewCmdPortForward(f, streams)
	cmd.Use = "port-forward NAME [[LOCAL_PORT:]REMOTE_PORT...]"
	cmd.Short = "Forward one or more local ports to a pod of a box"
	cmd.Long = "Forward one or more local ports to a pod of a box.\n\nA remote port is a port of the box, by number or name, or " +
		"else a port of its pods. Without ports, the command forwards all TCP ports of the box, from the same local ports. The " +
		"forwarding session ends when the selected pod terminates. You need permission to create pods/portforward, as for " +
		"kubectl port-forward."
	cmd.Example = templates.Examples(`
		# Listen on all TCP ports of box web locally, forwarding to their target ports in a pod
		kubectl modelbox port-forward web

		# Listen on port 8080 locally, forwarding to the target port of port 80 of the box
		kubectl modelbox port-forward web 8080:80

		# Listen on a random port on all addresses, forwarding to the target port of port http of the box
		kubectl modelbox port-forward web :http --address=0.0.0.0

		# Forward to a specific pod of box web
		kubectl modelbox port-forward web 8080:80 --pod=web-557996f76b-nb7ck`)
	cmd.ValidArgsFunction = completePorts(f)
	pod := cliutil.AddPodFlag(cmd, f)
	return cliutil.Adapt(cmd, func(cmd *cobra.Command, arguments []string) ([]string, error) {
		cliutil.ChoosePod(cmd.Context(), *pod)
		if len(arguments) == 0 {
			return nil, cmdutil.UsageErrorf(cmd, "the name of a box is required")
		}
		box, err := getBox(cmd.Context(), f, arguments[0])
		if err != nil {
			return nil, err
		}
		ports, err := podPorts(box, arguments[1:])
		if err != nil {
			return nil, err
		}
		return append([]string{cliutil.Argument(box.Name)}, ports...), nil
	})
}
