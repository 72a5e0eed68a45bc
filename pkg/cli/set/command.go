// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

// Package set is "kubectl modelbox set": kubectl's own set commands on boxes and on the components of stacks, and one for the files of
// boxes.
package set

import (
	"slices"

	"github.com/spf13/cobra"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	kubectlset "k8s.io/kubectl/pkg/cmd/set"
	envutil "k8s.io/kubectl/pkg/cmd/set/env"
	cmdutil "k8s.io/kubectl/pkg/cmd/util"
	"k8s.io/kubectl/pkg/util/templates"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/cli/cliutil"
)

const inStacks = "\n\nIn a stack, the main container of a component has the name of the component. Any other container is COMPONENT/CONTAINER."

// NewCommand returns the command "kubectl modelbox set".
func NewCommand(f cmdutil.Factory, streams genericiooptions.IOStreams) *cobra.Command {
	cliutil.RegisterTypes()
	cmd := &cobra.Command{
		Use:   "set SUBCOMMAND",
		Short: "Set images, environment variables, resources and files of boxes and stacks",
		Run:   cmdutil.DefaultSubCommandRun(streams.ErrOut),
	}
	cmd.AddCommand(newImageCommand(f, streams), newEnvCommand(f, streams), newResourcesCommand(f, streams), newConfigCommand(f, streams))
	return cmd
}

func newImageCommand(f cmdutil.Factory, streams genericiooptions.IOStreams) *cobra.Command {
	cmd := kubectlset.NewCmdImage(f, streams)
	cmd.Use = "image (-f FILENAME | NAME | TYPE/NAME) CONTAINER_NAME_1=CONTAINER_IMAGE_1 ... CONTAINER_NAME_N=CONTAINER_IMAGE_N"
	cmd.Short = "Update the container images of boxes and stacks"
	cmd.Long = "Update existing container images of boxes and stacks." + inStacks
	cmd.Example = templates.Examples(`
		# Set the image of the main container of box web
		kubectl modelbox set image web web=nginx:1.9.1

		# Set the image of all containers of all boxes with the tier=front label
		kubectl modelbox set image mb -l tier=front *=nginx:1.9.1

		# Set the images of two components of stack shop
		kubectl modelbox set image mst/shop web=nginx:1.9.1 db=mysql:8.4

		# Print the updated file in YAML format, without contacting the server
		kubectl modelbox set image -f box.yaml web=nginx:1.9.1 --local -o yaml`)
	cmd.ValidArgsFunction = cliutil.CompleteNamesAndContainers(f)
	return cliutil.Adapt(cmd, func(_ *cobra.Command, arguments []string) ([]string, error) {
		resources, images, err := cmdutil.GetResourcesAndPairs(arguments, "image")
		if err != nil {
			return nil, err
		}
		refuseChildren("image")
		return slices.Concat(cliutil.Arguments(resources), images), nil
	})
}

func newEnvCommand(f cmdutil.Factory, streams genericiooptions.IOStreams) *cobra.Command {
	cmd := kubectlset.NewCmdEnv(f, streams)
	cmd.ValidArgsFunction = cliutil.CompleteNames(f)
	cmd.Use = "env (-f FILENAME | NAME | TYPE/NAME) KEY_1=VAL_1 ... KEY_N=VAL_N"
	cmd.Short = "Update the environment variables of boxes and stacks"
	cmd.Long = "List or update the environment variables of boxes and stacks, in all containers or in those that --containers selects. " +
		"A name followed by '-' removes the variable." + inStacks
	cmd.Example = templates.Examples(`
		# Set one environment variable in all containers of box web, and remove another one
		kubectl modelbox set env web MODE=debug OLD-

		# List the environment variables of the main container of box web
		kubectl modelbox set env web --containers=web --list

		# Set environment variables of a component of stack shop from a Secret, with a prefix
		kubectl modelbox set env mst/shop --containers=web --from=secret/credentials --prefix=DB_`)
	return cliutil.Adapt(cmd, func(cmd *cobra.Command, arguments []string) ([]string, error) {
		if !cmdutil.GetFlagBool(cmd, "list") {
			refuseChildren("env")
		}
		resources, variables, ok := envutil.SplitEnvironmentFromResources(arguments)
		if !ok {
			return arguments, nil // which the command refuses
		}
		return slices.Concat(cliutil.Arguments(resources), variables), nil
	})
}

func newResourcesCommand(f cmdutil.Factory, streams genericiooptions.IOStreams) *cobra.Command {
	cmd := kubectlset.NewCmdResources(f, streams)
	cmd.ValidArgsFunction = cliutil.CompleteNames(f)
	cmd.Use = "resources (-f FILENAME | NAME | TYPE/NAME) [--limits=LIMITS] [--requests=REQUESTS]"
	cmd.Short = "Update the resource requests and limits of boxes and stacks"
	cmd.Long = "Update the resource requests and limits of boxes and stacks, in all containers or in those that --containers selects. " +
		"A box with a resourceType cannot have them." + inStacks
	cmd.Example = templates.Examples(`
		# Set the CPU and memory limits of the main container of box web
		kubectl modelbox set resources web --containers=web --limits=cpu=200m,memory=512Mi

		# Set the CPU requests of all components of stack shop
		kubectl modelbox set resources mst/shop --requests=cpu=100m`)
	return cliutil.Adapt(cmd, func(_ *cobra.Command, arguments []string) ([]string, error) {
		refuseChildren("resources")
		return cliutil.Arguments(arguments), nil
	})
}
