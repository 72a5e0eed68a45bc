// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

// Package rollback is "kubectl modelbox rollback": it gives boxes the spec of an earlier revision, by the subresource rollback.
package rollback

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

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/cli/boxes"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/generated/clientset/versioned"
)

// Options are those of the command.
type Options struct {
	genericiooptions.IOStreams
	boxes.Selection

	// ToRevision is the number of the revision. 0 is the newest one with other pods.
	ToRevision int64
	// DeleteStorage lets the rollback delete storage that the revision is without and that is not retained.
	DeleteStorage bool
	// FieldManager owns what becomes of the boxes.
	FieldManager string
	// DryRun is that of kubectl. The server does it: no client knows the revisions.
	DryRun cmdutil.DryRunStrategy
	// PrintFlags print what has been rolled back.
	PrintFlags *genericclioptions.PrintFlags

	client  versioned.Interface
	printer printers.ResourcePrinter
}

// NewCommand returns the command "kubectl modelbox rollback".
func NewCommand(f cmdutil.Factory, streams genericiooptions.IOStreams) *cobra.Command {
	boxes.RegisterTypes()
	o := &Options{IOStreams: streams, PrintFlags: genericclioptions.NewPrintFlags("rolled back").WithTypeSetter(scheme.Scheme)}
	cmd := &cobra.Command{
		Use:                   "rollback (NAME... | TYPE/NAME... | -f FILENAME) [--to-revision=REVISION]",
		DisableFlagsInUseLine: true,
		Short:                 "Roll back boxes to a previous revision",
		Long: "Roll back boxes to the spec of a previous revision. The default is the newest revision whose pods differ from " +
			"the spec of the box. The number of replicas does not change. Use \"kubectl modelbox history\" to view the " +
			"revisions.",
		Example: templates.Examples(`
			# Roll back box web to the previous revision
			kubectl modelbox rollback web

			# Roll back box web to revision 3 with dry-run
			kubectl modelbox rollback web --to-revision=3 --dry-run=server`),
		ValidArgsFunction: boxes.CompleteNames(f),
		RunE:              boxes.RunE(f, o),
	}
	o.AddFlags(cmd)
	o.PrintFlags.AddFlags(cmd)
	cmdutil.AddDryRunFlag(cmd)
	cmdutil.AddFieldManagerFlagVar(cmd, &o.FieldManager, "kubectl-modelbox")
	cmd.Flags().BoolVar(&o.DeleteStorage, "delete-storage", o.DeleteStorage, "If true, delete storage that the revision does not have and whose retain is false, including its data.")
	cmd.Flags().Int64Var(&o.ToRevision, "to-revision", o.ToRevision, "The revision to roll back to. Default to 0 (the newest revision with different pods).")
	cmdutil.CheckErr(cmd.RegisterFlagCompletionFunc("to-revision", boxes.CompleteRevisions(f)))
	return cmd
}

// Complete connects to the cluster.
func (o *Options) Complete(f cmdutil.Factory, cmd *cobra.Command, arguments []string) error {
	if err := o.Selection.Complete(f, arguments); err != nil {
		return err
	}
	var err error
	if o.client, err = boxes.NewClient(f); err != nil {
		return err
	}
	if o.DryRun, err = cmdutil.GetDryRunStrategy(cmd); err != nil {
		return err
	}
	cmdutil.PrintFlagsWithDryRunStrategy(o.PrintFlags, o.DryRun)
	o.printer, err = o.PrintFlags.ToPrinter()
	return err
}

// Validate returns an error for what cannot be done.
func (o *Options) Validate() error {
	switch {
	case o.ToRevision < 0:
		return fmt.Errorf("--to-revision must be a positive integer or 0, got %d", o.ToRevision)
	case o.DryRun == cmdutil.DryRunClient:
		return errors.New("--dry-run=client is not supported: use --dry-run=server")
	}
	return o.Selection.Validate()
}

// Run rolls the boxes back. The error has all that have not been.
func (o *Options) Run(ctx context.Context) error {
	selected, err := o.GetBoxes()
	if err != nil {
		return err
	}
	options := metav1.CreateOptions{FieldManager: o.FieldManager}
	if o.DryRun == cmdutil.DryRunServer {
		options.DryRun = []string{metav1.DryRunAll}
	}
	rollback := &modelv1.ModelBoxRollback{ToRevision: o.ToRevision, DeleteStorage: o.DeleteStorage}
	var errs []error
	for _, box := range selected {
		answer, err := o.client.ModelV1().ModelBoxes(box.Namespace).CreateRollback(ctx, box.Name, rollback, options)
		if err == nil {
			err = boxes.PrintAnswer(o.printer, o.PrintFlags, box, answer, o.Out)
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("rolling back %s: %w", box.Name, err))
		}
	}
	return utilerrors.NewAggregate(errs)
}
