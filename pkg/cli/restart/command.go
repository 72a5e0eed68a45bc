// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

// Package restart is "kubectl modelbox restart": a rollout of the same spec, by the subresource restart.
package restart

import (
	"context"

	"github.com/spf13/cobra"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	cmdutil "k8s.io/kubectl/pkg/cmd/util"
	"k8s.io/kubectl/pkg/util/templates"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/cli/cliutil"
)

// Options are the options of the command.
type Options struct{ cliutil.Action }

// NewCommand returns the command "kubectl modelbox restart".
func NewCommand(f cmdutil.Factory, streams genericiooptions.IOStreams) *cobra.Command {
	cliutil.RegisterTypes()
	o := &Options{cliutil.NewAction(streams, "restarted")}
	cmd := &cobra.Command{
		Use:                   "restart (NAME... | TYPE/NAME... | -f FILENAME)",
		DisableFlagsInUseLine: true,
		Short:                 "Restart boxes and stacks",
		Long: "Restart boxes and stacks. A rolling update replaces all pods of a box with new pods of the same spec. The boxes " +
			"of a stack restart in the order in which the stack updates them.",
		Example: templates.Examples(`
			# Restart a box
			kubectl modelbox restart web

			# Restart all boxes of stack shop, each after its dependencies are ready again
			kubectl modelbox restart mst/shop

			# Show the warnings of the server about a restart, without restarting the box
			kubectl modelbox restart web --dry-run=server

			# Restart all boxes with the tier=front label, and wait until their pods are replaced
			kubectl modelbox restart mb -l tier=front && kubectl modelbox wait mb -l tier=front`),
		ValidArgsFunction: cliutil.CompleteNames(f),
		RunE:              cliutil.RunE(f, o),
	}
	o.AddFlags(cmd)
	cmdutil.AddDryRunFlag(cmd)
	return cmd
}

// Validate returns an error for what cannot be done.
func (o *Options) Validate() error { return o.ValidateSubresource() }

// Run restarts the boxes and the stacks. The error has all that have not been restarted.
func (o *Options) Run(ctx context.Context) error {
	return o.CreateSubresource(ctx, o.GetObjects, "restart", &modelv1.ModelBoxRestart{}, "restarting")
}
