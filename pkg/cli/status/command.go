// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

// Package status is "kubectl modelbox status": what boxes and stacks have become, as a tree, and how each of it is doing.
package status

import (
	"context"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"k8s.io/cli-runtime/pkg/printers"
	cmdutil "k8s.io/kubectl/pkg/cmd/util"
	"k8s.io/kubectl/pkg/scheme"
	"k8s.io/kubectl/pkg/util/templates"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/cli/cliutil"
)

// Options are the options of the command.
type Options struct {
	genericiooptions.IOStreams
	cliutil.Selection

	// Watch shows the trees again whenever they change.
	Watch bool
	// ShowEvents shows the newest events below the trees.
	ShowEvents bool
	// PrintFlags print the objects of the trees in place of the trees, if an output format is set.
	PrintFlags *genericclioptions.PrintFlags

	gatherer gatherer
	told     sync.Map
}

// NewCommand returns the command "kubectl modelbox status".
func NewCommand(f cmdutil.Factory, streams genericiooptions.IOStreams) *cobra.Command {
	cliutil.RegisterTypes()
	o := &Options{
		IOStreams:  streams,
		ShowEvents: true,
		PrintFlags: genericclioptions.NewPrintFlags("").WithTypeSetter(scheme.Scheme),
	}
	cmd := &cobra.Command{
		Use:                   "status [NAME... | TYPE/NAME... | -f FILENAME]",
		DisableFlagsInUseLine: true,
		Short:                 "Show the status of boxes, stacks and their resources",
		Long: "Show the status of boxes, stacks and their resources as a tree, down to the pods, with problems and the newest " +
			"events.\n\nWithout names, show all boxes and stacks of the namespace. ReplicaSets of older revisions are shown " +
			"only while they have pods.",
		Example: templates.Examples(`
			# Show the status of box web
			kubectl modelbox status web

			# Show stack shop with its boxes, and watch for changes
			kubectl modelbox status mst/shop --watch

			# Show all boxes with the tier=front label, in all namespaces
			kubectl modelbox status mb -l tier=front -A

			# Print the names of box web and its resources
			kubectl modelbox status web -o name`),
		ValidArgsFunction: cliutil.CompleteNames(f),
		RunE:              cliutil.RunE(f, o),
	}
	o.AddFlags(cmd)
	o.PrintFlags.AddFlags(cmd)
	cmd.Flags().BoolVarP(&o.Watch, "watch", "w", o.Watch, "After showing the status, watch for changes and show it again.")
	cmd.Flags().BoolVar(&o.ShowEvents, "show-events", o.ShowEvents, "If true, show the newest events.")
	return cmd
}

// Complete connects to the cluster.
func (o *Options) Complete(f cmdutil.Factory, _ *cobra.Command, arguments []string) error {
	if err := o.Selection.Complete(f, arguments); err != nil {
		return err
	}
	o.gatherer.events, o.gatherer.allNamespaces, o.gatherer.refused = o.ShowEvents, o.AllNamespaces, o.refused
	var err error
	if o.gatherer.kube, err = f.KubernetesClientSet(); err != nil {
		return err
	}
	o.gatherer.model, err = cliutil.NewClient(f)
	return err
}

// Validate returns an error for flags that exclude each other.
func (o *Options) Validate() error {
	if o.Watch && *o.PrintFlags.OutputFormat != "" {
		return fmt.Errorf("--watch and --output may not be specified together")
	}
	return o.Selection.Validate()
}

// Run shows the trees. With Watch, it shows them until the context ends. It returns an error for objects that are not found after
// it has shown the other ones.
func (o *Options) Run(ctx context.Context) error {
	objects, notFound := o.Get()
	if notFound != nil && (o.Watch || objects == nil || objects.IsEmpty()) {
		return notFound
	}
	if o.Watch {
		return o.runWatch(ctx, objects)
	}
	if objects.IsEmpty() {
		fmt.Fprintln(o.ErrOut, o.NothingFound())
		return nil
	}
	world, err := o.gatherer.gather(ctx, objects)
	if err != nil {
		return err
	}
	roots := world.trees(objects)
	if *o.PrintFlags.OutputFormat != "" {
		if err := o.printObjects(roots); err != nil {
			return err
		}
		return notFound
	}
	o.print(o.Out, world, roots)
	return notFound
}

func (o *Options) printer() *printer {
	return &printer{now: time.Now(), colour: printers.AllowsColorOutput(o.Out), withNamespace: o.AllNamespaces}
}

func (o *Options) print(out io.Writer, world *world, roots []*node) {
	if len(roots) == 0 {
		fmt.Fprintln(out, o.NothingFound())
		return
	}
	p := o.printer()
	p.printTrees(out, roots)
	if o.ShowEvents {
		p.printEvents(out, roots, world.events)
	}
}

// printObjects prints the objects of the trees: as a List, or the name of each.
func (o *Options) printObjects(roots []*node) error {
	printer, err := o.PrintFlags.ToPrinter()
	if err != nil {
		return err
	}
	list := &metav1.List{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "List"}}
	for _, object := range objectsOf(roots) {
		if *o.PrintFlags.OutputFormat == "name" {
			if err := printer.PrintObj(object, o.Out); err != nil {
				return err
			}
			continue
		}
		kinds, _, err := scheme.Scheme.ObjectKinds(object)
		if err != nil {
			return err
		}
		object.GetObjectKind().SetGroupVersionKind(kinds[0])
		if accessor, err := meta.Accessor(object); err == nil && !o.PrintFlags.JSONYamlPrintFlags.ShowManagedFields {
			accessor.SetManagedFields(nil)
		}
		list.Items = append(list.Items, runtime.RawExtension{Object: object})
	}
	if *o.PrintFlags.OutputFormat == "name" {
		return nil
	}
	return printer.PrintObj(list, o.Out)
}

// refused tells once what the user may not read, and is therefore missing.
func (o *Options) refused(err error) {
	if _, told := o.told.LoadOrStore(err.Error(), true); !told {
		fmt.Fprintln(o.ErrOut, "warning: omitted:", err)
	}
}
