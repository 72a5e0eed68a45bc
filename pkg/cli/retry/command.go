// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

// Package retry is "kubectl modelbox retry": another attempt at a rollout that has failed, by the subresource retry.
package retry

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

// NewCommand returns the command "kubectl modelbox retry".
func NewCommand(f cmdutil.Factory, streams genericiooptions.IOStreams) *cobra.Command {
	cliutil.RegisterTypes()
	o := &Options{cliutil.NewAction(streams, "retried")}
	cmd := &cobra.Command{
		Use:                   "retry (NAME... | TYPE/NAME... | -f FILENAME)",
		DisableFlagsInUseLine: true,
		Short:                 "Retry failed rollouts of boxes",
		Long: "Retry the failed rollout of boxes with the same spec, for example after pushing a missing image or creating a " +
			"missing Secret. A box that was rolled back starts the rollout again.",
		Example: templates.Examples(`
			# Retry the rollout of box web, and wait until it completes or fails again
			kubectl modelbox retry web && kubectl modelbox wait web --timeout=5m`),
		ValidArgsFunction: cliutil.CompleteNames(f),
		RunE:              cliutil.RunE(f, o),
	}
	o.AddFlags(cmd)
	cmdutil.AddDryRunFlag(cmd)
	return cmd
}

// Validate returns an error for what cannot be done.
func (o *Options) Validate() error { return o.ValidateSubresource() }

// Run tries the rollouts again. The error has all that have not been.
func (o *Options) Run(ctx context.Context) error {
	return o.CreateSubresource(ctx, o.GetBoxes, "retry", &modelv1.ModelBoxRetry{}, "retrying")
}
