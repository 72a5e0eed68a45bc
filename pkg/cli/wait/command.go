// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

// Package wait is "kubectl modelbox wait": it shows how far boxes and stacks are, until they are ready or the reason why they
// will not be.
package wait

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/spf13/cobra"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	utilerrors "k8s.io/apimachinery/pkg/util/errors"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"k8s.io/cli-runtime/pkg/printers"
	watchtools "k8s.io/client-go/tools/watch"
	cmdutil "k8s.io/kubectl/pkg/cmd/util"
	"k8s.io/kubectl/pkg/scheme"
	"k8s.io/kubectl/pkg/util/templates"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/cli/cliutil"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/generated/clientset/versioned"
)

// What the flag --for may be.
const (
	forReady  = "ready"
	forDelete = "delete"
)

const (
	defaultTimeout = 30 * time.Second
	// endlessly is what a negative timeout means, as for "kubectl wait".
	endlessly = 168 * time.Hour
)

// Options are the options of the command.
type Options struct {
	genericiooptions.IOStreams
	cliutil.Selection

	// For is what to wait for: forReady or forDelete.
	For string
	// All waits for all boxes and stacks, or all of the types that are given.
	All bool
	// Timeout is how long to wait for all. Zero looks once, and a negative one is a week.
	Timeout time.Duration
	// PrintFlags print what has become ready.
	PrintFlags *genericclioptions.PrintFlags

	client  versioned.Interface
	printer printers.ResourcePrinter
	display *display
}

// NewCommand returns the command "kubectl modelbox wait".
func NewCommand(f cmdutil.Factory, streams genericiooptions.IOStreams) *cobra.Command {
	cliutil.RegisterTypes()
	o := &Options{
		IOStreams:  streams,
		For:        forReady,
		Timeout:    defaultTimeout,
		PrintFlags: genericclioptions.NewPrintFlags("condition met").WithTypeSetter(scheme.Scheme),
	}
	cmd := &cobra.Command{
		Use:                   "wait (NAME... | TYPE/NAME... | -f FILENAME | --all) [--for=ready|delete]",
		DisableFlagsInUseLine: true,
		Short:                 "Wait until boxes and stacks are ready, and show their progress",
		Long: "Wait until boxes and stacks match their present spec and are ready. The progress of each box and stack, and of " +
			"each component of a stack, is printed to standard error.\n\nThe command fails at the timeout. It fails at once, " +
			"with the reason, if a box or a stack cannot become ready without a change by a user, for example because an image " +
			"cannot be pulled.\n\nWith --for=delete, wait until the boxes and stacks are deleted, as \"kubectl wait\" does.",
		Example: templates.Examples(`
			# Wait for box web to be ready
			kubectl modelbox wait web

			# Apply a file, and wait up to five minutes for its boxes and stacks
			kubectl apply -f shop.yaml && kubectl modelbox wait -f shop.yaml --timeout=5m

			# Wait for all boxes with the tier=front label to be ready
			kubectl modelbox wait mb -l tier=front

			# Wait for all boxes and stacks of the namespace to be ready
			kubectl modelbox wait --all

			# Delete box web, and wait for the deletion
			kubectl delete mb/web --wait=false && kubectl modelbox wait web --for=delete`),
		ValidArgsFunction: cliutil.CompleteNames(f),
		RunE:              cliutil.RunE(f, o),
	}
	o.AddFlags(cmd)
	o.PrintFlags.AddFlags(cmd)
	cmd.Flags().StringVar(&o.For, "for", o.For, "The condition to wait on: [ready|delete].")
	cmdutil.CheckErr(cmd.RegisterFlagCompletionFunc("for", cobra.FixedCompletions([]string{forReady, forDelete}, cobra.ShellCompDirectiveNoFileComp)))
	cmd.Flags().BoolVar(&o.All, "all", o.All, "Select all boxes and stacks in the namespace, or all of the specified types.")
	cmd.Flags().DurationVar(&o.Timeout, "timeout", o.Timeout,
		"The length of time to wait before giving up. Zero means check once and don't wait, negative means wait for a week.")
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
	if o.printer, err = o.PrintFlags.ToPrinter(); err != nil {
		return err
	}
	o.display = newDisplay(o.ErrOut)
	return nil
}

// Validate returns an error unless it is said what to wait for.
func (o *Options) Validate() error {
	switch {
	case o.IsEmpty() && !o.All:
		return errors.New("one or more boxes or stacks must be specified as NAME, TYPE/NAME, or by --filename, --selector or --all")
	case o.All && (!o.Selection.All() || o.LabelSelector != ""):
		return errors.New("--all may not be specified together with names, --filename or --selector")
	case o.For != forReady && o.For != forDelete:
		return fmt.Errorf("--for must be %s or %s, got %q", forReady, forDelete, o.For)
	}
	return o.Selection.Validate()
}

// Run waits. The error has all that have not become ready, or are not gone.
func (o *Options) Run(ctx context.Context) error {
	objects, err := o.Get()
	if o.For == forDelete {
		err = utilerrors.FilterOut(err, apierrors.IsNotFound)
	}
	if err != nil {
		return err
	}
	if objects.IsEmpty() {
		if o.For == forDelete {
			return nil
		}
		return errors.New("no matching resources found")
	}
	var all []*waiter
	for resource, object := range objects.All() {
		all = append(all, o.newWaiter(resource, object))
	}
	ctx, cancel := watchtools.ContextWithOptionalTimeout(ctx, o.timeout())
	defer cancel()
	errs := make([]error, len(all))
	var waiting sync.WaitGroup
	for i, w := range all {
		w.show()
		waiting.Go(func() {
			if o.For == forDelete {
				errs[i] = w.waitForDeletion(ctx, o.Timeout != 0)
			} else {
				errs[i] = w.wait(ctx, o.Timeout != 0)
			}
		})
	}
	waiting.Wait()
	for i, w := range all {
		if errs[i] == nil {
			errs[i] = o.printer.PrintObj(w.latest, o.Out)
		}
	}
	return utilerrors.NewAggregate(errs)
}

func (o *Options) timeout() time.Duration {
	if o.Timeout < 0 {
		return endlessly
	}
	return o.Timeout
}

// waiter waits for one box or stack.
type waiter struct {
	name     string
	resource string
	object   cliutil.Object
	latest   runtime.Object
	client   versioned.Interface
	display  *display
}

func (o *Options) newWaiter(resource string, object cliutil.Object) *waiter {
	return &waiter{name: resource + "/" + object.GetName(), resource: resource, object: object, latest: object, client: o.client, display: o.display}
}

// wait returns nil when the object is ready, and the reason when it will not be or the context ends.
func (w *waiter) wait(ctx context.Context, patiently bool) error {
	if done, err := w.look(); done || err != nil {
		return err
	}
	if !patiently {
		return w.timedOut()
	}
	err := cliutil.Until(ctx, w.client, w.resource, w.object, func(object runtime.Object) (bool, error) {
		w.latest = object
		w.show()
		return w.look()
	})
	switch {
	case err != nil && errors.Is(ctx.Err(), context.Canceled):
		return fmt.Errorf("interrupted while waiting for %s", w.name)
	case err != nil && ctx.Err() != nil:
		return w.timedOut()
	}
	return err
}

// look returns whether the object is ready, and an error when it will not be.
func (w *waiter) look() (bool, error) {
	summary := summaryOf(w.latest)
	switch {
	case summary.IsReady:
		return true, nil
	case summary.IsStalled, summary.Reason == modelv1.ReasonPaused:
		return false, fmt.Errorf("%s will not become ready: %s: %s", w.name, summary.Reason, cliutil.OneLine(summary.Message))
	}
	return false, nil
}

func (w *waiter) timedOut() error {
	summary := summaryOf(w.latest)
	return fmt.Errorf("timed out waiting for the condition on %s: %s: %s", w.name, summary.Reason, cliutil.OneLine(summary.Message))
}

func (w *waiter) show() { w.display.show(w.name, progressOf(w.latest)) }
