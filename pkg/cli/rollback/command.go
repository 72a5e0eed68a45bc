// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

// Package rollback is "kubectl modelbox rollback": it gives boxes the spec of an earlier revision, by the subresource rollback.
package rollback

import (
	"context"
	"fmt"

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

	// ToRevision is the number of the revision. 0 is the newest one with other pods.
	ToRevision int64
	// DeleteStorage lets the rollback delete storage that the revision is without and that is not retained.
	DeleteStorage bool
	// Immediate leaves out the steps of the rollout.
	Immediate bool
}

// NewCommand returns the command "kubectl modelbox rollback".
func NewCommand(f cmdutil.Factory, streams genericiooptions.IOStreams) *cobra.Command {
	cliutil.RegisterTypes()
	o := &Options{Action: cliutil.NewAction(streams, "rolled back")}
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
			kubectl modelbox rollback web --to-revision=3 --dry-run=server

			# Roll back box web without the steps of its rollout
			kubectl modelbox rollback web --immediate`),
		ValidArgsFunction: cliutil.CompleteNames(f),
		RunE:              cliutil.RunE(f, o),
	}
	o.AddFlags(cmd)
	cmdutil.AddDryRunFlag(cmd)
	cmd.Flags().BoolVar(&o.DeleteStorage, "delete-storage", o.DeleteStorage, "If true, delete storage that the revision does not have and whose retain is false, including its data.")
	cmd.Flags().BoolVar(&o.Immediate, "immediate", o.Immediate, "If true, leave out the steps of the rollout, with their pauses and checks.")
	cmd.Flags().Int64Var(&o.ToRevision, "to-revision", o.ToRevision, "The revision to roll back to. Default to 0 (the newest revision with different pods).")
	cmdutil.CheckErr(cmd.RegisterFlagCompletionFunc("to-revision", cliutil.CompleteRevisions(f)))
	return cmd
}

// Validate returns an error for what cannot be done.
func (o *Options) Validate() error {
	if o.ToRevision < 0 {
		return fmt.Errorf("--to-revision must be a positive integer or 0, got %d", o.ToRevision)
	}
	return o.ValidateSubresource()
}

// Run rolls the boxes back. The error has all that have not been.
func (o *Options) Run(ctx context.Context) error {
	rollback := &modelv1.ModelBoxRollback{ToRevision: o.ToRevision, DeleteStorage: o.DeleteStorage, Immediate: o.Immediate}
	return o.CreateSubresource(ctx, o.GetBoxes, "rollback", rollback, "rolling back")
}
