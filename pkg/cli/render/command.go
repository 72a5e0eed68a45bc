// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

// Package render is "kubectl modelbox render": it prints what boxes become, from the subresource render.
package render

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	utilerrors "k8s.io/apimachinery/pkg/util/errors"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"k8s.io/cli-runtime/pkg/printers"
	cmdutil "k8s.io/kubectl/pkg/cmd/util"
	"k8s.io/kubectl/pkg/util/templates"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/cli/cliutil"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/generated/clientset/versioned"
)

// Options are the options of the command.
type Options struct {
	genericiooptions.IOStreams
	cliutil.Selection

	// PrintFlags print what boxes become.
	PrintFlags *genericclioptions.PrintFlags

	client  versioned.Interface
	printer printers.ResourcePrinter
}

// NewCommand returns the command "kubectl modelbox render".
func NewCommand(f cmdutil.Factory, streams genericiooptions.IOStreams) *cobra.Command {
	cliutil.RegisterTypes()
	o := &Options{IOStreams: streams, PrintFlags: genericclioptions.NewPrintFlags("").WithDefaultOutput("yaml")}
	cmd := &cobra.Command{
		Use:                   "render (NAME... | TYPE/NAME... | -f FILENAME)",
		DisableFlagsInUseLine: true,
		Short:                 "Print the children of boxes and stacks",
		Long: "Print the children of boxes and stacks as the server applies them. The children of a stack are its boxes, and " +
			"the Services of its external components. Boxes and stacks in files are rendered without being stored.",
		Example: templates.Examples(`
			# Print the children of box web
			kubectl modelbox render web

			# Print the children that the box in box.yaml would have
			kubectl modelbox render -f box.yaml

			# Print the children of stack shop
			kubectl modelbox render mst/shop

			# Print the names of the children of box web
			kubectl modelbox render web -o name`),
		ValidArgsFunction: cliutil.CompleteNames(f),
		RunE:              cliutil.RunE(f, o),
	}
	o.AddFlags(cmd)
	o.PrintFlags.AddFlags(cmd)
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
	o.printer, err = o.PrintFlags.ToPrinter()
	return err
}

// Run prints the children of the boxes and the stacks. The error has the objects that cannot be rendered.
func (o *Options) Run(ctx context.Context) error {
	var children []runtime.Object
	selected, err := o.GetOrRead()
	err = cliutil.ForEach(selected, err, func(resource string, object cliutil.Object) error {
		rendered, err := o.render(ctx, resource, object)
		children = append(children, rendered...)
		return err
	})
	if len(children) == 0 && err != nil {
		return utilerrors.Reduce(err)
	}
	err = utilerrors.Flatten(utilerrors.NewAggregate([]error{err, o.print(children)}))
	return utilerrors.Reduce(err)
}

// render requests the children of a box or a stack.
func (o *Options) render(ctx context.Context, resource string, object cliutil.Object) ([]runtime.Object, error) {
	rendered := &metav1.List{}
	if err := o.RequestSubresource(ctx, o.client, resource, object, "render", rendered); err != nil {
		return nil, fmt.Errorf("rendering %s: %w", object.GetName(), err)
	}
	children := make([]runtime.Object, len(rendered.Items))
	for i := range rendered.Items {
		child := &unstructured.Unstructured{}
		if err := child.UnmarshalJSON(rendered.Items[i].Raw); err != nil {
			return nil, fmt.Errorf("decoding the children of %s: %w", object.GetName(), err)
		}
		children[i] = child
	}
	return children, nil
}

// print prints YAML documents and names one after the other, and JSON as one List.
func (o *Options) print(children []runtime.Object) error {
	if *o.PrintFlags.OutputFormat == "json" {
		list := &unstructured.UnstructuredList{Object: map[string]any{"apiVersion": "v1", "kind": "List"}}
		for _, child := range children {
			list.Items = append(list.Items, *child.(*unstructured.Unstructured))
		}
		return o.printer.PrintObj(list, o.Out)
	}
	for _, child := range children {
		if err := o.printer.PrintObj(child, o.Out); err != nil {
			return err
		}
	}
	return nil
}
