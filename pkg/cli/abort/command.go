// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

// Package abort is "kubectl modelbox abort": the end of a rollout that is in progress, by the subresource abort.
package abort

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

// NewCommand returns the command "kubectl modelbox abort".
func NewCommand(f cmdutil.Factory, streams genericiooptions.IOStreams) *cobra.Command {
	cliutil.RegisterTypes()
	o := &Options{cliutil.NewAction(streams, "aborted")}
	cmd := &cobra.Command{
		Use:                   "abort (NAME... | TYPE/NAME... | -f FILENAME)",
		DisableFlagsInUseLine: true,
		Short:                 "Abort rollouts of boxes",
		Long: "Abort the rollout of boxes that is in progress. The pods of a box get the stable revision back, which is the last " +
			"revision whose rollout was complete. The spec of the box does not change: use \"kubectl modelbox retry\" to start " +
			"the rollout again, or change the spec.",
		Example: templates.Examples(`
			# Abort the rollout of box web
			kubectl modelbox abort web`),
		ValidArgsFunction: cliutil.CompleteNames(f),
		RunE:              cliutil.RunE(f, o),
	}
	o.AddFlags(cmd)
	cmdutil.AddDryRunFlag(cmd)
	return cmd
}

// Validate returns an error for what cannot be done.
func (o *Options) Validate() error { return o.ValidateSubresource() }

// Run aborts the rollouts. The error has all that have not been.
func (o *Options) Run(ctx context.Context) error {
	return o.CreateSubresource(ctx, o.GetBoxes, "abort", &modelv1.ModelBoxAbort{}, "aborting")
}
