// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package cliutil

import (
	"context"
	"errors"
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

	"github.com/sharelinuxs/modelbox-apiserver/pkg/generated/clientset/versioned"
	modelscheme "github.com/sharelinuxs/modelbox-apiserver/pkg/generated/clientset/versioned/scheme"
)

// Action changes the boxes and stacks of a selection, for a command.
type Action struct {
	genericiooptions.IOStreams
	Selection

	// FieldManager owns what is changed.
	FieldManager string
	// DryRun is the dry-run strategy of kubectl, none for a command without the flag.
	DryRun cmdutil.DryRunStrategy
	// PrintFlags print the boxes and stacks, with what has been done.
	PrintFlags *genericclioptions.PrintFlags

	client  versioned.Interface
	printer printers.ResourcePrinter
}

// NewAction returns an action that is printed as the operation, such as "restarted".
func NewAction(streams genericiooptions.IOStreams, operation string) Action {
	return Action{IOStreams: streams, PrintFlags: genericclioptions.NewPrintFlags(operation).WithTypeSetter(scheme.Scheme)}
}

// AddFlags adds the flags that select, and those that say how to change and to print. The flag for a dry run is not among them.
func (a *Action) AddFlags(cmd *cobra.Command) {
	a.Selection.AddFlags(cmd)
	a.PrintFlags.AddFlags(cmd)
	cmdutil.AddFieldManagerFlagVar(cmd, &a.FieldManager, "kubectl-modelbox")
}

// Complete connects to the cluster.
func (a *Action) Complete(f cmdutil.Factory, cmd *cobra.Command, arguments []string) error {
	if err := a.Selection.Complete(f, arguments); err != nil {
		return err
	}
	var err error
	if a.client, err = NewClient(f); err != nil {
		return err
	}
	if cmd.Flags().Lookup("dry-run") != nil {
		if a.DryRun, err = cmdutil.GetDryRunStrategy(cmd); err != nil {
			return err
		}
		cmdutil.PrintFlagsWithDryRunStrategy(a.PrintFlags, a.DryRun)
	}
	a.printer, err = a.PrintFlags.ToPrinter()
	return err
}

// dryRun is the option of requests for a dry run of the server.
func (a *Action) dryRun() []string {
	if a.DryRun == cmdutil.DryRunServer {
		return []string{metav1.DryRunAll}
	}
	return nil
}

// ForEach calls the function for each object. Like kubectl, it continues with the other objects if the selection has an error or the
// function returns one. It returns all errors.
func ForEach(selected *Objects, err error, do func(resource string, object Object) error) error {
	errs := []error{err}
	if selected != nil {
		for resource, object := range selected.All() {
			errs = append(errs, do(resource, object))
		}
	}
	return utilerrors.Flatten(utilerrors.NewAggregate(errs))
}

// ValidateSubresource returns an error for flags that exclude each other, and for a dry run that only the server can do.
func (a *Action) ValidateSubresource() error {
	if a.DryRun == cmdutil.DryRunClient {
		return errors.New("--dry-run=client is not supported: use --dry-run=server")
	}
	return a.Selection.Validate()
}

// CreateSubresource creates a subresource of each object of the selection, and prints the answers. The error has the objects for
// which that fails, after what was done, such as "restarting".
func (a *Action) CreateSubresource(ctx context.Context, selection func() (*Objects, error), subresource string, body runtime.Object, doing string) error {
	options := metav1.CreateOptions{FieldManager: a.FieldManager, DryRun: a.dryRun()}
	selected, err := selection()
	return ForEach(selected, err, func(resource string, object Object) error {
		answer, err := a.client.ModelV1().RESTClient().Post().UseProtobufAsDefault().
			Namespace(object.GetNamespace()).Resource(resource).Name(object.GetName()).SubResource(subresource).
			VersionedParams(&options, modelscheme.ParameterCodec).Body(body).Do(ctx).Get()
		if err == nil {
			err = PrintAnswer(a.printer, a.PrintFlags, object, answer, a.Out)
		}
		if err != nil {
			return fmt.Errorf("%s %s: %w", doing, object.GetName(), err)
		}
		return nil
	})
}
