// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

// Package history is "kubectl modelbox history": it prints the revisions of boxes, from the subresource history.
package history

import (
	"context"
	"errors"
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

	"github.com/sharelinuxs/modelbox-apiserver/pkg/cli/cliutil"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/generated/clientset/versioned"
)

// Options are the options of the command.
type Options struct {
	genericiooptions.IOStreams
	cliutil.Selection

	// Revision is the one to print in detail. 0 prints all, in a table.
	Revision int64
	// PrintFlags print the histories as objects.
	PrintFlags *genericclioptions.PrintFlags

	client  versioned.Interface
	printer printers.ResourcePrinter
}

// NewCommand returns the command "kubectl modelbox history".
func NewCommand(f cmdutil.Factory, streams genericiooptions.IOStreams) *cobra.Command {
	cliutil.RegisterTypes()
	o := &Options{IOStreams: streams, PrintFlags: genericclioptions.NewPrintFlags("").WithTypeSetter(scheme.Scheme)}
	cmd := &cobra.Command{
		Use:                   "history (NAME... | TYPE/NAME... | -f FILENAME) [--revision=REVISION]",
		DisableFlagsInUseLine: true,
		Short:                 "View the rollout history of boxes",
		Long: "View the revisions of boxes that the cluster still has, and the changes that each revision made. For a stack, " +
			"view the revisions of each of its boxes.",
		Example: templates.Examples(`
			# View the rollout history of box web
			kubectl modelbox history web

			# View the details of revision 3, with the values before and after each change
			kubectl modelbox history web --revision=3

			# View the rollout history of each box of stack shop
			kubectl modelbox history mst/shop`),
		ValidArgsFunction: cliutil.CompleteNames(f),
		RunE:              cliutil.RunE(f, o),
	}
	o.AddFlags(cmd)
	o.PrintFlags.AddFlags(cmd)
	cmd.Flags().Int64Var(&o.Revision, "revision", o.Revision, "See the details, including the changed values, of the revision specified.")
	cmdutil.CheckErr(cmd.RegisterFlagCompletionFunc("revision", cliutil.CompleteRevisions(f)))
	return cmd
}

// Complete connects to the cluster.
func (o *Options) Complete(f cmdutil.Factory, _ *cobra.Command, arguments []string) error {
	if err := o.Selection.Complete(f, arguments); err != nil {
		return err
	}
	var err error
	if o.client, err = cliutil.NewClient(f); err != nil {
		return err
	}
	if o.PrintFlags.OutputFlagSpecified() {
		o.printer, err = o.PrintFlags.ToPrinter()
	}
	return err
}

// Validate returns an error for flags that cannot be.
func (o *Options) Validate() error {
	if o.Revision < 0 {
		return fmt.Errorf("--revision must be a positive integer or 0, got %d", o.Revision)
	}
	return o.Selection.Validate()
}

// Run prints the histories. The error has those that cannot be read.
func (o *Options) Run(ctx context.Context) error {
	objects, notFound := o.GetObjects()
	if objects == nil || objects.IsEmpty() {
		return notFound
	}
	selected, err := cliutil.WithComponents(ctx, o.client, objects)
	if err != nil {
		return err
	}
	if len(selected) == 0 && notFound == nil {
		return errors.New("the stacks have no boxes")
	}
	errs := []error{notFound}
	for i, box := range selected {
		history, err := o.client.ModelV1().ModelBoxes(box.Namespace).GetHistory(ctx, box.Name, metav1.GetOptions{})
		switch {
		case err != nil:
			err = fmt.Errorf("getting the history of box %s: %w", box.Name, err)
		case o.printer != nil:
			err = cliutil.PrintAnswer(o.printer, o.PrintFlags, box, history, o.Out)
		case o.Revision > 0:
			err = printRevision(o.Out, history, o.Revision)
		default:
			if i > 0 {
				fmt.Fprintln(o.Out)
			}
			err = printHistory(o.Out, history)
		}
		if err != nil {
			errs = append(errs, err)
		}
	}
	return utilerrors.Flatten(utilerrors.NewAggregate(errs))
}
