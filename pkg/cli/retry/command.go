// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

// Package retry is "kubectl modelbox retry": another attempt at a rollout that has failed, by the subresource retry.
package retry

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	utilerrors "k8s.io/apimachinery/pkg/util/errors"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"k8s.io/cli-runtime/pkg/printers"
	cmdutil "k8s.io/kubectl/pkg/cmd/util"
	"k8s.io/kubectl/pkg/scheme"
	"k8s.io/kubectl/pkg/util/templates"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/cli/boxes"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/generated/clientset/versioned"
)

// Options are those of the command.
type Options struct {
	genericiooptions.IOStreams
	boxes.Selection

	// FieldManager owns the time of the retry in the statuses of the boxes.
	FieldManager string
	// PrintFlags print what has been tried again.
	PrintFlags *genericclioptions.PrintFlags

	client  versioned.Interface
	printer printers.ResourcePrinter
}

// NewCommand returns the command "kubectl modelbox retry".
func NewCommand(f cmdutil.Factory, streams genericiooptions.IOStreams) *cobra.Command {
	boxes.RegisterTypes()
	o := &Options{IOStreams: streams, PrintFlags: genericclioptions.NewPrintFlags("retried").WithTypeSetter(scheme.Scheme)}
	cmd := &cobra.Command{
		Use:                   "retry (NAME... | TYPE/NAME... | -f FILENAME)",
		DisableFlagsInUseLine: true,
		Short:                 "Retry failed rollouts of boxes",
		Long: "Retry the failed rollout of boxes with the same spec, for example after pushing a missing image or creating a " +
			"missing Secret. A box that was rolled back starts the rollout again.",
		Example: templates.Examples(`
			# Retry the rollout of box web, and wait until it completes or fails again
			kubectl modelbox retry web && kubectl modelbox wait web --timeout=5m`),
		ValidArgsFunction: boxes.CompleteNames(f),
		RunE:              boxes.RunE(f, o),
	}
	o.AddFlags(cmd)
	o.PrintFlags.AddFlags(cmd)
	cmdutil.AddFieldManagerFlagVar(cmd, &o.FieldManager, "kubectl-modelbox")
	return cmd
}

// Complete connects to the cluster.
func (o *Options) Complete(f cmdutil.Factory, _ *cobra.Command, arguments []string) error {
	if err := o.Selection.Complete(f, arguments); err != nil {
		return err
	}
	var err error
	if o.client, err = boxes.NewClient(f); err != nil {
		return err
	}
	o.printer, err = o.PrintFlags.ToPrinter()
	return err
}

// Run tries the rollouts again. The error has all that have not been.
func (o *Options) Run(ctx context.Context) error {
	selected, err := o.GetBoxes()
	if err != nil {
		return err
	}
	var errs []error
	for _, box := range selected {
		answer, err := o.client.ModelV1().ModelBoxes(box.Namespace).CreateRetry(ctx, box.Name, &modelv1.ModelBoxRetry{}, metav1.CreateOptions{FieldManager: o.FieldManager})
		if err == nil {
			err = boxes.PrintAnswer(o.printer, o.PrintFlags, box, answer, o.Out)
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("retrying %s: %w", box.Name, err))
		}
	}
	return utilerrors.NewAggregate(errs)
}
