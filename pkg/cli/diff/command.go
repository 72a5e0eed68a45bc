// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

// Package diff is "kubectl modelbox diff". It shows what an apply of boxes changes in their children, and what other field managers
// have changed there.
package diff

import (
	"context"
	"encoding/json"
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
	"github.com/sharelinuxs/modelbox-apiserver/pkg/cli/cliutil"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/generated/clientset/versioned"
)

// Options are the options of the command.
type Options struct {
	genericiooptions.IOStreams
	cliutil.Selection

	// PrintFlags print the diffs as objects if they have an output format.
	PrintFlags *genericclioptions.PrintFlags

	client  versioned.Interface
	printer printers.ResourcePrinter // nil without an output format
}

// NewCommand returns the command "kubectl modelbox diff".
func NewCommand(f cmdutil.Factory, streams genericiooptions.IOStreams) *cobra.Command {
	cliutil.RegisterTypes()
	o := &Options{IOStreams: streams, PrintFlags: genericclioptions.NewPrintFlags("").WithTypeSetter(scheme.Scheme)}
	cmd := &cobra.Command{
		Use:                   "diff (NAME... | TYPE/NAME... | -f FILENAME)",
		DisableFlagsInUseLine: true,
		Short:                 "Show the changes that applying boxes and stacks makes to their children",
		Long: "Show the changes that applying boxes and stacks makes to their children, field by field, and the consequences " +
			"for their pods. The command changes nothing.\n\nBoxes and stacks in files are compared with their children as if " +
			"they were applied. Boxes and stacks in the cluster are compared with their children as they are: each difference " +
			"is a change by another field manager. For a stack, the command compares all its boxes.\n\nExit status: 0 No " +
			"differences were found. 1 Differences were found. >1 The command failed with an error.",
		Example: templates.Examples(`
			# Show the changes that applying box.yaml would make
			kubectl modelbox diff -f box.yaml

			# Show the changes that other field managers have made to the children of box web
			kubectl modelbox diff web`),
		ValidArgsFunction: cliutil.CompleteNames(f),
		RunE: func(cmd *cobra.Command, arguments []string) error {
			cmdutil.CheckDiffErr(o.Complete(f, arguments))
			cmdutil.CheckDiffErr(o.Validate())
			isDifferent, err := o.Run(cmd.Context())
			cmdutil.CheckDiffErr(err)
			if isDifferent {
				return cmdutil.ErrExit // with 1, as diff does
			}
			return nil
		},
	}
	o.AddFlags(cmd)
	o.PrintFlags.AddFlags(cmd)
	return cmd
}

// Complete connects to the cluster.
func (o *Options) Complete(f cmdutil.Factory, arguments []string) error {
	if err := o.Selection.Complete(f, arguments); err != nil {
		return err
	}
	var err error
	if o.client, err = cliutil.NewClient(f); err != nil {
		return err
	}
	if *o.PrintFlags.OutputFormat != "" {
		o.printer, err = o.PrintFlags.ToPrinter()
	}
	return err
}

// Validate returns an error for a command line that names nothing, or excludes itself.
func (o *Options) Validate() error {
	if o.IsEmpty() {
		return fmt.Errorf("one or more boxes must be specified as NAME, TYPE/NAME, or by --filename or --selector")
	}
	return o.Selection.Validate()
}

// Run prints the diffs, and returns whether anything differs. The error has the objects that cannot be compared.
func (o *Options) Run(ctx context.Context) (bool, error) {
	isDifferent := false
	selected, err := o.GetOrRead()
	err = cliutil.ForEach(selected, err, func(resource string, object cliutil.Object) error {
		diffs, err := o.diffs(ctx, resource, object)
		if err != nil {
			return err
		}
		for _, diff := range diffs {
			isDifferent = isDifferent || differs(diff)
			if err := o.print(diff); err != nil {
				return err
			}
		}
		return nil
	})
	return isDifferent, utilerrors.Reduce(err)
}

// diffs requests the diff of a box, or the diffs of the boxes of a stack.
func (o *Options) diffs(ctx context.Context, resource string, object cliutil.Object) ([]*modelv1.ModelBoxDiff, error) {
	if resource == cliutil.Boxes {
		diff := &modelv1.ModelBoxDiff{}
		return []*modelv1.ModelBoxDiff{diff}, o.RequestSubresource(ctx, o.client, resource, object, "diff", diff)
	}
	list := &metav1.List{}
	if err := o.RequestSubresource(ctx, o.client, resource, object, "diff", list); err != nil {
		return nil, err
	}
	diffs := make([]*modelv1.ModelBoxDiff, len(list.Items))
	for i := range list.Items {
		if err := json.Unmarshal(list.Items[i].Raw, &diffs[i]); err != nil {
			return nil, fmt.Errorf("reading the diff of %s: %w", object.GetName(), err)
		}
	}
	return diffs, nil
}

func (o *Options) print(diff *modelv1.ModelBoxDiff) error {
	if o.printer != nil {
		return o.printer.PrintObj(diff, o.Out)
	}
	printDiff(o.Out, o.ErrOut, diff)
	return nil
}
