// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

// Package migrate moves boxes that are custom resources to the aggregated server, with the children that an operator has made of
// them, and back. No pod restarts.
//
// The cluster and the server serve the same API group, only one at a time, and give their objects UIDs of their own. The garbage
// collector deletes the children of an owner that is not served with exactly this UID. So the children have no owner while the
// group moves from the one to the other.
package migrate

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/cli/adopt"
)

// options are the options of all commands of the package.
type options struct {
	genericiooptions.IOStreams
	flags genericclioptions.RESTClientGetter

	directory string
	timeout   time.Duration
	operator  string
	filename  string
	dryRun    dryRun

	clients *clients
}

// NewCommand returns the command "kubectl modelbox migrate".
func NewCommand(flags genericclioptions.RESTClientGetter, streams genericiooptions.IOStreams) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "migrate",
		Short: "Migrate boxes from a CustomResourceDefinition to the aggregated server",
		Long: "Migrate all boxes of a cluster from a CustomResourceDefinition to the aggregated server, and back.\n\nThe boxes " +
			"of the server adopt the Deployments and Services that an operator created, without restarting pods. You can roll " +
			"back until you delete the CustomResourceDefinition.",
		Example: "  kubectl modelbox migrate check --operator=box-system/box-operator\n" +
			"  kubectl --namespace=box-system scale deployment/box-operator --replicas=0\n" +
			"  kubectl modelbox migrate export --directory=boxes\n" +
			"  kubectl modelbox migrate move --directory=boxes --operator=box-system/box-operator\n" +
			"  kubectl modelbox migrate verify --directory=boxes",
	}
	for _, newCommand := range []func(*options) *cobra.Command{newCheckCommand, newExportCommand, newMoveCommand, newVerifyCommand, newRollbackCommand} {
		cmd.AddCommand(newCommand(&options{IOStreams: streams, flags: flags}))
	}
	return cmd
}

// complete connects to the cluster.
func (o *options) complete() (err error) {
	o.clients, err = newClients(o.flags)
	return err
}

func (o *options) addDirectoryFlag(cmd *cobra.Command) {
	cmd.Flags().StringVarP(&o.directory, "directory", "d", "", "Directory of the exported files.")
	utilruntime.Must(cmd.MarkFlagRequired("directory"))
}

func (o *options) addOperatorFlag(cmd *cobra.Command) {
	cmd.Flags().StringVar(&o.operator, "operator", "", "Deployment of the operator as NAMESPACE/NAME, or '"+noOperator+"' if there is no operator. The operator must not be running.")
}

func (o *options) addTimeoutFlag(cmd *cobra.Command) {
	cmd.Flags().DurationVar(&o.timeout, "timeout", 5*time.Minute, "The length of time to wait for each step in the cluster, such as the adoption by one box, before giving up.")
}

// rewriter changes Deployments without replacing their pods.
func (o *options) rewriter() *adopt.Rewriter {
	return &adopt.Rewriter{Client: o.clients.cluster, FieldManager: fieldManager, Timeout: o.timeout}
}

func (o *options) patchOptions() metav1.PatchOptions {
	return metav1.PatchOptions{FieldManager: fieldManager, DryRun: o.dryRun.option()}
}

// await polls until check returns true. Its error has the last obstacle that check returned.
func (o *options) await(ctx context.Context, what string, check func(context.Context) (done bool, obstacle string, err error)) error {
	return adopt.Await(ctx, o.timeout, what, check)
}

// say prints a line about what was done, or would be.
func (o *options) say(format string, args ...any) {
	fmt.Fprintf(o.Out, format+o.dryRun.suffix()+"\n", args...)
}
