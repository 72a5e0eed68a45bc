// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

// Package initialize is "kubectl modelbox init": it writes a box from flags, or from answers to a few questions.
package initialize

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	cmdutil "k8s.io/kubectl/pkg/cmd/util"
	"k8s.io/kubectl/pkg/util/templates"
	"k8s.io/kubectl/pkg/util/term"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model"
	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/validation"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/cli/cliutil"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/cli/scheme"
)

// Options are the options of the command: a box in the words of a command line.
type Options struct {
	genericiooptions.IOStreams

	Image    string
	Command  []string
	Ports    []string
	Replicas int32
	Envs     []string
	Storage  []string
	Hosts    []string
	Workload string
	Schedule string
	Size     string
	// PrintFlags print the box.
	PrintFlags *genericclioptions.PrintFlags

	name, namespace string
	// asks is that what is missing is asked for.
	asks bool
}

// NewCommand returns the command "kubectl modelbox init".
func NewCommand(f cmdutil.Factory, streams genericiooptions.IOStreams) *cobra.Command {
	o := &Options{
		IOStreams:  streams,
		Replicas:   modelv1.DefaultReplicas,
		PrintFlags: genericclioptions.NewPrintFlags("").WithTypeSetter(scheme.Scheme).WithDefaultOutput("yaml"),
	}
	cmd := &cobra.Command{
		Use:                   "init [NAME] [--image=IMAGE] [-- COMMAND [ARGUMENT...]]",
		DisableFlagsInUseLine: true,
		Short:                 "Generate a box as YAML",
		Long: "Generate a box as YAML from flags. In a terminal, the command asks for missing values.\n\nThe command does not " +
			"contact the cluster and creates nothing. You can apply its output.",
		Example: templates.Examples(`
			# Answer a few questions, and write the box to a file
			kubectl modelbox init > web.yaml

			# Generate a box with two pods and an Ingress host
			kubectl modelbox init web --image=nginx:1.7.9 --replicas=2 --port=80 --host=shop.example.com

			# Generate a database with a volume for each pod
			kubectl modelbox init db --image=mysql:8.4 --port=3306 --workload=StatefulSet --storage=data:/var/lib/mysql:10Gi

			# Generate a box that runs every night
			kubectl modelbox init report --image=report:1.4 --schedule="30 2 * * *"

			# Create a box without a file
			kubectl modelbox init web --image=nginx:1.7.9 --port=80:8080 | kubectl apply -f -`),
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, arguments []string) error {
			if err := o.Complete(f, cmd, arguments); err != nil {
				return err
			}
			return o.Run(cmd.Context())
		},
	}
	o.PrintFlags.AddFlags(cmd)
	flags := cmd.Flags()
	flags.StringVar(&o.Image, "image", o.Image, "Image of the main container.")
	flags.StringArrayVar(&o.Ports, "port", o.Ports, "Port as [NAME:]PORT[:TARGETPORT][/PROTOCOL] (repeatable).")
	flags.Int32Var(&o.Replicas, "replicas", o.Replicas, "Number of pods.")
	flags.StringArrayVar(&o.Envs, "env", o.Envs, "Environment variable as NAME=VALUE (repeatable).")
	flags.StringArrayVar(&o.Storage, "storage", o.Storage, "Persistent volume as NAME:MOUNTPATH:SIZE (repeatable).")
	flags.StringArrayVar(&o.Hosts, "host", o.Hosts, "Ingress host (repeatable).")
	flags.StringVar(&o.Workload, "workload", o.Workload, "Kind of the workload: Deployment, StatefulSet, DaemonSet, Job or CronJob.")
	flags.StringVar(&o.Schedule, "schedule", o.Schedule, "Schedule of workload CronJob, which is the default of the workload with a schedule.")
	flags.StringVar(&o.Size, "resource-type", o.Size, "Resource type of the main container: small, medium, large or custom.")
	for flag, values := range map[string][]string{
		"workload":      {"Deployment", "StatefulSet", "DaemonSet", "Job", "CronJob"},
		"resource-type": {"small", "medium", "large", "custom"},
	} {
		cmdutil.CheckErr(cmd.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp)))
	}
	return cmd
}

// Complete takes the arguments. Run asks for missing ones if the input is a terminal.
func (o *Options) Complete(f cmdutil.Factory, cmd *cobra.Command, arguments []string) error {
	if dash := cmd.ArgsLenAtDash(); dash >= 0 {
		arguments, o.Command = arguments[:dash], arguments[dash:]
	}
	if len(arguments) > 1 {
		return fmt.Errorf("exactly one NAME is required, got %q; specify a command after --", arguments)
	}
	if len(arguments) == 1 {
		o.name = arguments[0]
	}
	// Only a namespace that was asked for is in the manifest.
	namespace, isExplicit, err := f.ToRawKubeConfigLoader().Namespace()
	if err == nil && isExplicit {
		o.namespace = namespace
	}
	o.asks = term.TTY{In: o.In}.IsTerminalIn()
	return nil
}

// Run prints the box. Its error names the flags, or the fields, that are wrong.
func (o *Options) Run(ctx context.Context) error {
	if o.name == "" || o.Image == "" {
		if !o.asks {
			return errors.New("NAME and --image are required when stdin is not a terminal")
		}
		if err := o.ask(); err != nil {
			return err
		}
	}
	box, err := o.box()
	if err != nil {
		return err
	}
	if err := validate(ctx, box); err != nil {
		return err
	}
	manifest, err := cliutil.Manifest(box)
	if err != nil {
		return err
	}
	printer, err := o.PrintFlags.ToPrinter()
	if err != nil {
		return err
	}
	return printer.PrintObj(manifest, o.Out)
}

// validate returns an error with the fields of a box that the server would refuse.
func validate(ctx context.Context, box *modelv1.ModelBox) error {
	box = box.DeepCopy()
	if box.Namespace == "" {
		box.Namespace = "default"
	}
	scheme.Scheme.Default(box)
	internal := &model.ModelBox{}
	if err := scheme.Scheme.Convert(box, internal, nil); err != nil {
		return fmt.Errorf("converting the box: %w", err)
	}
	return validation.ValidateModelBox(ctx, internal).ToAggregate()
}
