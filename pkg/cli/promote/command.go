// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

// Package promote is "kubectl modelbox promote": the next step of a rollout in steps, by the subresource promote.
package promote

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
type Options struct {
	cliutil.Action

	// Full leaves out all steps that are left.
	Full bool
}

// NewCommand returns the command "kubectl modelbox promote".
func NewCommand(f cmdutil.Factory, streams genericiooptions.IOStreams) *cobra.Command {
	cliutil.RegisterTypes()
	o := &Options{Action: cliutil.NewAction(streams, "promoted")}
	cmd := &cobra.Command{
		Use:                   "promote (NAME... | TYPE/NAME... | -f FILENAME) [--full]",
		DisableFlagsInUseLine: true,
		Short:                 "Promote rollouts of boxes to the next step",
		Long: "Promote the rollout of boxes that is in steps to its next step, whether the current step waits for this command or " +
			"for a time. With --full, leave out all steps that are left.",
		Example: templates.Examples(`
			# Promote the rollout of box web to the next step
			kubectl modelbox promote web

			# Roll out box web to all pods, without the steps that are left
			kubectl modelbox promote web --full`),
		ValidArgsFunction: cliutil.CompleteNames(f),
		RunE:              cliutil.RunE(f, o),
	}
	o.AddFlags(cmd)
	cmdutil.AddDryRunFlag(cmd)
	cmd.Flags().BoolVar(&o.Full, "full", o.Full, "If true, leave out all steps that are left.")
	return cmd
}

// Validate returns an error for what cannot be done.
func (o *Options) Validate() error { return o.ValidateSubresource() }

// Run promotes the rollouts. The error has all that have not been.
func (o *Options) Run(ctx context.Context) error {
	return o.CreateSubresource(ctx, o.GetBoxes, "promote", &modelv1.ModelBoxPromotion{Full: o.Full}, "promoting")
}
