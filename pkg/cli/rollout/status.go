// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package rollout

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/spf13/cobra"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	utilerrors "k8s.io/apimachinery/pkg/util/errors"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	watchtools "k8s.io/client-go/tools/watch"
	cmdutil "k8s.io/kubectl/pkg/cmd/util"
	"k8s.io/kubectl/pkg/util/templates"
	"k8s.io/kubectl/pkg/util/term"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/cli/cliutil"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/generated/clientset/versioned"
)

// statusOptions are the options of the command "status".
type statusOptions struct {
	genericiooptions.IOStreams
	cliutil.Selection

	// Watch shows the rollouts until they are complete or have failed, and not only as they are now.
	Watch bool
	// Revision is the only one whose rollout is shown. 0 is the newest.
	Revision int64
	// Timeout is how long to wait for all rollouts. Zero means forever.
	Timeout time.Duration

	client versioned.Interface
	view   view
}

// view shows rollouts.
type view interface {
	// show shows a box or a stack as it is now.
	show(object runtime.Object)
	// complete says that a rollout is complete.
	complete(object runtime.Object)
	// end shows the last state.
	end()
}

func newStatusCommand(f cmdutil.Factory, streams genericiooptions.IOStreams) *cobra.Command {
	cliutil.RegisterTypes()
	o := &statusOptions{IOStreams: streams, Watch: true}
	cmd := &cobra.Command{
		Use:                   "status (NAME... | TYPE/NAME... | -f FILENAME) [--watch=false] [--timeout=DURATION]",
		DisableFlagsInUseLine: true,
		Short:                 "Show the status of the rollout of boxes and stacks",
		Long: "Show the status of the rollout of boxes and stacks, until all rollouts are complete. In a terminal, the command " +
			"shows a bar for the pods of each revision, and the time until the progress deadline. Otherwise it prints a line for " +
			"each change.\n\nThe command fails at once, with the reason, if a rollout has failed, was rolled back, or waits for a " +
			"user. It also fails at the timeout.",
		Example: templates.Examples(`
			# Watch the rollout of box web
			kubectl modelbox rollout status web

			# Watch the rollout of stack shop, for up to five minutes
			kubectl modelbox rollout status mst/shop --timeout=5m

			# Show the status of the rollout once
			kubectl modelbox rollout status web --watch=false`),
		ValidArgsFunction: cliutil.CompleteNames(f),
		RunE:              cliutil.RunE(f, o),
	}
	o.AddFlags(cmd)
	cmd.Flags().BoolVarP(&o.Watch, "watch", "w", o.Watch, "Watch the status of the rollout until it's done.")
	cmd.Flags().Int64Var(&o.Revision, "revision", o.Revision, "Pin to a specific revision of a box for showing its status. Defaults to 0 (last revision).")
	cmd.Flags().DurationVar(&o.Timeout, "timeout", o.Timeout, "The length of time to wait before ending watch, zero means never.")
	cmdutil.CheckErr(cmd.RegisterFlagCompletionFunc("revision", cliutil.CompleteRevisions(f)))
	return cmd
}

// Complete connects to the cluster.
func (o *statusOptions) Complete(f cmdutil.Factory, _ *cobra.Command, arguments []string) error {
	if err := o.Selection.Complete(f, arguments); err != nil {
		return err
	}
	var err error
	if o.client, err = cliutil.NewClient(f); err != nil {
		return err
	}
	tty := term.TTY{Out: o.Out}
	if !tty.IsTerminalOut() {
		o.view = &log{out: o.Out}
		return nil
	}
	kube, err := f.KubernetesClientSet()
	if err != nil {
		return err
	}
	o.view = newScreen(o.Out, tty.GetSize, o.client, kube)
	return nil
}

// Validate returns an error for flags that cannot be.
func (o *statusOptions) Validate() error {
	if o.Revision < 0 {
		return fmt.Errorf("--revision must be a positive integer or 0, got %d", o.Revision)
	}
	return o.Selection.Validate()
}

// Run shows the rollouts. The error has all that have failed, and the objects that are not found.
func (o *statusOptions) Run(ctx context.Context) error {
	objects, notFound := o.GetObjects()
	if objects == nil || objects.IsEmpty() {
		return notFound
	}
	if o.Revision > 0 && len(objects.Stacks) > 0 {
		return errors.New("--revision is only valid for boxes")
	}
	ctx, cancel := watchtools.ContextWithOptionalTimeout(ctx, o.Timeout)
	defer cancel()
	if screen, ok := o.view.(*screen); ok {
		screen.start(ctx, objects, o.Watch)
	}
	errs := []error{notFound}
	var lock sync.Mutex
	var following sync.WaitGroup
	for resource, object := range objects.All() {
		following.Go(func() {
			err := o.follow(ctx, resource, object)
			lock.Lock()
			defer lock.Unlock()
			errs = append(errs, err)
		})
	}
	following.Wait()
	o.view.end()
	return utilerrors.Flatten(utilerrors.NewAggregate(errs))
}

// follow shows a rollout until it is complete. The error says why it will not be.
func (o *statusOptions) follow(ctx context.Context, resource string, object cliutil.Object) error {
	var latest state
	look := func(object runtime.Object) (bool, error) {
		latest = stateOf(object)
		o.view.show(object)
		if err := o.checkRevision(ctx, object); err != nil {
			return false, err
		}
		switch {
		case latest.isComplete:
			o.view.complete(object)
			return true, nil
		case latest.hasFailed:
			return false, fmt.Errorf("%s rollout will not complete: %s: %s", nameOf(object), latest.reason, latest.message)
		}
		return false, nil
	}
	if isDone, err := look(object); isDone || err != nil || !o.Watch {
		return err
	}
	err := cliutil.Until(ctx, o.client, resource, object, look)
	switch {
	case err != nil && errors.Is(ctx.Err(), context.Canceled):
		return fmt.Errorf("interrupted while waiting for the rollout of %s", nameOf(object))
	case err != nil && ctx.Err() != nil:
		return fmt.Errorf("timed out waiting for the rollout of %s: %s: %s", nameOf(object), latest.reason, latest.message)
	}
	return err
}

// checkRevision returns an error when the newest revision of a box is not the one that the command is about.
func (o *statusOptions) checkRevision(ctx context.Context, object runtime.Object) error {
	box, isBox := object.(*modelv1.ModelBox)
	if o.Revision == 0 || !isBox {
		return nil
	}
	history, err := o.client.ModelV1().ModelBoxes(box.Namespace).GetHistory(ctx, box.Name, metav1.GetOptions{})
	if err != nil {
		return fmt.Errorf("getting the history of box %s: %w", box.Name, err)
	}
	var newest int64
	if count := len(history.Revisions); count > 0 {
		newest = history.Revisions[count-1].Revision
	}
	if newest != o.Revision {
		return fmt.Errorf("desired revision (%d) is different from the running revision (%d)", o.Revision, newest)
	}
	return nil
}
