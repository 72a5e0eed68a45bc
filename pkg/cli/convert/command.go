// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

// Package convert is "kubectl modelbox convert": it makes the box of a Deployment and a Service that run, and has the box take them
// over without replacing a pod.
package convert

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/runtime"
	utilerrors "k8s.io/apimachinery/pkg/util/errors"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"k8s.io/cli-runtime/pkg/printers"
	"k8s.io/cli-runtime/pkg/resource"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	cmdutil "k8s.io/kubectl/pkg/cmd/util"
	kubectlscheme "k8s.io/kubectl/pkg/scheme"
	"k8s.io/kubectl/pkg/util/completion"
	"k8s.io/kubectl/pkg/util/templates"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/cli/cliutil"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/cli/scheme"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/generated/clientset/versioned"
)

// fieldManager is who writes in the name of this command.
const fieldManager = "kubectl-modelbox-convert"

const defaultTimeout = 2 * time.Minute

// Options are the options of the command.
type Options struct {
	genericiooptions.IOStreams

	// Adopt has the boxes created, and take over what runs.
	Adopt bool
	// Timeout is how long each step of that waits for the controllers of the cluster.
	Timeout time.Duration
	// LabelSelector selects Deployments, in place of names.
	LabelSelector string
	// PrintFlags print the boxes, or their names after they have been created.
	PrintFlags *genericclioptions.PrintFlags

	arguments []string
	namespace string
	builder   func() *resource.Builder
	client    kubernetes.Interface
	boxes     versioned.Interface
	printer   printers.ResourcePrinter
}

// NewCommand returns the command "kubectl modelbox convert".
func NewCommand(f cmdutil.Factory, streams genericiooptions.IOStreams) *cobra.Command {
	o := &Options{IOStreams: streams, Timeout: defaultTimeout, PrintFlags: genericclioptions.NewPrintFlags("adopted").WithTypeSetter(scheme.Scheme)}
	cmd := &cobra.Command{
		Use:                   "convert (NAME... | deployment/NAME... | deployment -l SELECTOR)",
		DisableFlagsInUseLine: true,
		Short:                 "Convert running Deployments and Services to boxes",
		Long: "Convert a running Deployment, and the Service of the same name, to a box, and print the box. Settings that " +
			"change, and settings that a box cannot express, are printed to standard error.\n\nWith --adopt, the command " +
			"creates the box, which adopts the Deployment, the Service and the running pods without replacing a pod. If you " +
			"create the box in another way, such as with kubectl apply, it adopts them as well, but replaces the pods once in a " +
			"rolling update, because of the labels that it adds.",
		Example: templates.Examples(`
			# Convert Deployment web and its Service, and print the box
			kubectl modelbox convert web > web.yaml

			# Create a box that adopts Deployment web and its Service
			kubectl modelbox convert web --adopt

			# Create boxes that adopt all Deployments with the tier=front label
			kubectl modelbox convert deployment -l tier=front --adopt`),
		ValidArgsFunction: completion.ResourceNameCompletionFunc(f, "deployment"),
		RunE:              cliutil.RunE(f, o),
	}
	o.PrintFlags.AddFlags(cmd)
	cmdutil.AddLabelSelectorFlagVar(cmd, &o.LabelSelector)
	cmd.Flags().BoolVar(&o.Adopt, "adopt", o.Adopt, "If true, create the boxes, and adopt the Deployments, Services and pods without replacing a pod.")
	cmd.Flags().DurationVar(&o.Timeout, "timeout", o.Timeout, "The length of time that each step of --adopt waits for the controllers of the cluster before giving up.")
	return cmd
}

// Complete connects to the cluster.
func (o *Options) Complete(f cmdutil.Factory, _ *cobra.Command, arguments []string) (err error) {
	o.arguments, o.builder = asDeployments(arguments), f.NewBuilder
	if o.namespace, _, err = f.ToRawKubeConfigLoader().Namespace(); err != nil {
		return err
	}
	config, err := f.ToRESTConfig()
	if err != nil {
		return err
	}
	if o.boxes, err = versioned.NewForConfig(config); err != nil {
		return err
	}
	config = rest.CopyConfig(config)
	config.WarningHandler = rest.NoWarnings{} // of Deployments that are asked for and not made
	if o.client, err = kubernetes.NewForConfig(config); err != nil {
		return err
	}
	if !o.Adopt && !o.PrintFlags.OutputFlagSpecified() {
		*o.PrintFlags.OutputFormat = "yaml"
	}
	o.printer, err = o.PrintFlags.ToPrinter()
	return err
}

// asDeployments returns arguments of which those without a type are Deployments.
func asDeployments(arguments []string) []string {
	types := []string{"deployment", "deployments", "deploy", "deployment.apps", "deployments.apps"}
	if len(arguments) > 0 && slices.Contains(types, arguments[0]) {
		return arguments
	}
	typed := make([]string, len(arguments))
	for i, argument := range arguments {
		if typed[i] = argument; !strings.Contains(argument, "/") {
			typed[i] = "deployment/" + argument
		}
	}
	return typed
}

// Validate returns an error unless it is said what to convert.
func (o *Options) Validate() error {
	if len(o.arguments) == 0 {
		return errors.New("one or more Deployments must be specified as NAME, deployment/NAME, or deployment with --selector")
	}
	return nil
}

// Run converts. Its error has all that no box can take over as it is.
func (o *Options) Run(ctx context.Context) error {
	infos, err := o.builder().
		WithScheme(kubectlscheme.Scheme, kubectlscheme.Scheme.PrioritizedVersionsAllGroups()...).
		NamespaceParam(o.namespace).DefaultNamespace().
		LabelSelectorParam(o.LabelSelector).
		ResourceTypeOrNameArgs(o.LabelSelector == "", o.arguments...).
		ContinueOnError().Latest().Flatten().Do().Infos()
	if err != nil {
		return err
	}
	if len(infos) == 0 {
		return errors.New("no matching resources found")
	}
	var errs []error
	for _, info := range infos {
		if err := o.runOne(ctx, info.Object); err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", info.ObjectName(), err))
		}
	}
	return utilerrors.NewAggregate(errs)
}

var errNotAsItIs = errors.New("a box cannot adopt it as it is")

func (o *Options) runOne(ctx context.Context, object runtime.Object) error {
	live, ok := object.(*appsv1.Deployment)
	if !ok {
		return errors.New("only a Deployment can be adopted together with its pods")
	}
	if o.Adopt {
		box, before, err := o.begun(ctx, live)
		if err != nil {
			return err
		}
		if box != nil {
			if err := o.rewriter().Prepare(ctx, before, &live.Spec.Template); err != nil {
				return err
			}
			return o.finish(box, o.settle(ctx, box, before))
		}
	}
	c, err := o.convert(ctx, live)
	if err != nil {
		return err
	}
	for _, f := range c.findings {
		fmt.Fprintf(o.ErrOut, "deployment.apps/%s: %s: %s\n", live.Name, f.severity, f.message)
	}
	if !o.Adopt && c.box != nil {
		if err := o.printer.PrintObj(c.box, o.Out); err != nil {
			return err
		}
	}
	switch {
	case c.isRefused():
		return errNotAsItIs
	case o.Adopt:
		box, err := c.typed()
		if err != nil {
			return err
		}
		return o.finish(box, o.adopt(ctx, c))
	}
	return nil
}

// finish prints a box that has taken over its Deployment.
func (o *Options) finish(box *modelv1.ModelBox, err error) error {
	if err != nil {
		return err
	}
	return o.printer.PrintObj(box, o.Out)
}

// convert returns what becomes of a Deployment, with all that is to be said of it.
func (o *Options) convert(ctx context.Context, live *appsv1.Deployment) (*conversion, error) {
	c := &conversion{live: live}
	if c.judge(); c.isRefused() {
		return c, nil
	}
	if err := o.addServices(ctx, c); err != nil {
		return nil, err
	}
	if err := c.convert(ctx, o.withDefaults); err != nil {
		return nil, err
	}
	if live.Spec.Paused {
		prepared, err := o.rewriter().IsPrepared(ctx, live, c.template)
		if err != nil {
			return nil, err
		}
		if !prepared {
			c.add(refused, "it is paused: run kubectl rollout resume deployment/%s", live.Name)
			return c, nil
		}
		if c.judgeRollout(); c.isRefused() {
			return c, nil
		}
		// A run that was interrupted has paused it.
		c.live = live.DeepCopy()
		c.live.Spec.Paused = false
	}
	return c, o.judgeBox(ctx, c)
}
