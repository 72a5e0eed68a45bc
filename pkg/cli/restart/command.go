// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

// Package restart is "kubectl modelbox restart": a rollout of the same spec, by the subresource restart.
package restart

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
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

	// FieldManager owns the time of the restart in the boxes and stacks.
	FieldManager string
	// PrintFlags print what has been restarted.
	PrintFlags *genericclioptions.PrintFlags

	client  versioned.Interface
	printer printers.ResourcePrinter
}

// NewCommand returns the command "kubectl modelbox restart".
func NewCommand(f cmdutil.Factory, streams genericiooptions.IOStreams) *cobra.Command {
	boxes.RegisterTypes()
	o := &Options{IOStreams: streams, PrintFlags: genericclioptions.NewPrintFlags("restarted").WithTypeSetter(scheme.Scheme)}
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

			# Restart all boxes with the tier=front label, and wait until their pods are replaced
			kubectl modelbox restart mb -l tier=front && kubectl modelbox wait mb -l tier=front`),
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

// Run restarts the boxes and the stacks. The error has all that have not been restarted.
func (o *Options) Run(ctx context.Context) error {
	selected, err := o.GetObjects()
	if err != nil {
		return err
	}
	var errs []error
	done := func(name string, about, answer runtime.Object, err error) {
		if err == nil {
			err = boxes.PrintAnswer(o.printer, o.PrintFlags, about, answer, o.Out)
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("restarting %s: %w", name, err))
		}
	}
	options := metav1.CreateOptions{FieldManager: o.FieldManager}
	for _, stack := range selected.Stacks {
		answer, err := o.client.ModelV1().ModelStacks(stack.Namespace).CreateRestart(ctx, stack.Name, &modelv1.ModelBoxRestart{}, options)
		done(stack.Name, stack, answer, err)
	}
	for _, box := range selected.Boxes {
		answer, err := o.client.ModelV1().ModelBoxes(box.Namespace).CreateRestart(ctx, box.Name, &modelv1.ModelBoxRestart{}, options)
		done(box.Name, box, answer, err)
	}
	return utilerrors.NewAggregate(errs)
}
