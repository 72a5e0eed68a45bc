// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

// Package debug is "kubectl modelbox debug": an ephemeral container in pods of a box, by the subresource debug.
package debug

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	utilerrors "k8s.io/apimachinery/pkg/util/errors"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"k8s.io/cli-runtime/pkg/printers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	cmdutil "k8s.io/kubectl/pkg/cmd/util"
	"k8s.io/kubectl/pkg/scheme"
	"k8s.io/kubectl/pkg/util/templates"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/cli/cliutil"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/generated/clientset/versioned"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/render/debugcontainer"
)

// Options are the options of the command.
type Options struct {
	genericiooptions.IOStreams

	// Box is the name of the box, in the namespace.
	Box, Namespace string
	// Command is what follows "--": the command of the container, or with ArgsOnly the arguments of its entrypoint.
	Command  []string
	ArgsOnly bool
	// Env are the variables of the container.
	Env map[string]string
	// Debug is what the server is asked for.
	Debug modelv1.ModelBoxDebug
	// Attach waits until the container runs, and attaches to it, or prints its logs where it takes no input.
	Attach bool
	// Quiet keeps from ErrOut what is no error.
	Quiet bool
	// FieldManager owns the container in the pods.
	FieldManager string
	// DryRun is the dry-run strategy of kubectl. Only the server can do it, because no client knows what the cluster allows.
	DryRun cmdutil.DryRunStrategy
	// PrintFlags print the answer of the server.
	PrintFlags *genericclioptions.PrintFlags

	config  *rest.Config
	client  versioned.Interface
	kube    kubernetes.Interface
	printer printers.ResourcePrinter
}

// NewCommand returns the command "kubectl modelbox debug".
func NewCommand(f cmdutil.Factory, streams genericiooptions.IOStreams) *cobra.Command {
	cliutil.RegisterTypes()
	o := &Options{IOStreams: streams, PrintFlags: genericclioptions.NewPrintFlags("debugged").WithTypeSetter(scheme.Scheme)}
	cmd := &cobra.Command{
		Use:                   "debug (NAME | TYPE/NAME) --image=IMAGE [--target=CONTAINER] [--profile=PROFILE] [flags] [-- COMMAND [args...]]",
		DisableFlagsInUseLine: true,
		Short:                 "Add an ephemeral container to pods of a box",
		Long: "Debug a box with an ephemeral container of another image. The command adds the container to one running pod of " +
			"the box, and prefers a ready one, or to all of them with --all-pods. The container sees the processes of the main " +
			"container, or of the container that --target names. You cannot change an ephemeral container, or remove it from " +
			"its pod. You need permission to patch pods/ephemeralcontainers, as for kubectl debug.",
		Example: templates.Examples(`
			# Start a shell that sees the processes of the main container of box web
			kubectl modelbox debug web -it --image=busybox

			# List the processes of container sidecar in a specific pod
			kubectl modelbox debug web --image=busybox --pod=web-557996f76b-nb7ck --target=sidecar --attach -- ps

			# Capture packets in all pods of box web, and print the output
			kubectl modelbox debug web --image=example.com/tcpdump --profile=netadmin --all-pods -c capture
			kubectl modelbox logs web -c capture

			# Check whether the cluster allows the container, without adding it
			kubectl modelbox debug web --image=busybox --profile=sysadmin --dry-run=server`),
		ValidArgsFunction: cliutil.CompleteName(f),
		RunE:              cliutil.RunE(f, o),
	}
	o.AddFlags(cmd)
	cmdutil.CheckErr(cmd.RegisterFlagCompletionFunc("profile", cobra.FixedCompletions(profileNames(), cobra.ShellCompDirectiveNoFileComp)))
	cmdutil.CheckErr(cmd.RegisterFlagCompletionFunc("image-pull-policy", cobra.FixedCompletions(
		[]string{string(corev1.PullAlways), string(corev1.PullIfNotPresent), string(corev1.PullNever)}, cobra.ShellCompDirectiveNoFileComp)))
	return cmd
}

// AddFlags adds the flags. A flag that "kubectl debug" has as well has the same name and meaning.
func (o *Options) AddFlags(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&o.Debug.Image, "image", o.Debug.Image, "Container image to use for the debug container.")
	flags.String("image-pull-policy", "", "The image pull policy for the container. If left empty, this value will not be specified by the client and defaulted by the server.")
	flags.BoolVar(&o.ArgsOnly, "arguments-only", o.ArgsOnly, "If specified, everything after -- will be passed to the new container as args instead of command.")
	flags.StringToStringVar(&o.Env, "env", o.Env, "Environment variables to set in the container.")
	flags.StringVarP(&o.Debug.ContainerName, "container", "c", o.Debug.ContainerName, "Container name to use for the debug container. If left empty, the server generates a name.")
	flags.StringVar(&o.Debug.TargetContainer, "target", o.Debug.TargetContainer, "Name of the container whose processes the debug container sees. If left empty, the main container of the box.")
	flags.String("profile", string(modelv1.DebugProfileGeneral), "Debugging profile, which sets the permissions of the container: "+strings.Join(profileNames(), ", ")+".")
	flags.StringVar(&o.Debug.Pod, "pod", o.Debug.Pod, "Name of the pod of the box. If empty, the server selects a running pod, and prefers a ready one.")
	flags.BoolVar(&o.Debug.AllPods, "all-pods", o.Debug.AllPods, "If true, add the container to all running pods of the box.")
	flags.BoolVarP(&o.Debug.Stdin, "stdin", "i", o.Debug.Stdin, "Keep stdin open on the container, even if nothing is attached.")
	flags.BoolVarP(&o.Debug.TTY, "tty", "t", o.Debug.TTY, "Allocate a TTY for the container.")
	flags.BoolVar(&o.Attach, "attach", o.Attach, "If true, wait for the container to start running, and then attach to it. Without -i/--stdin, print its logs until it terminates. Default false, unless '-i/--stdin' is set without --all-pods and --dry-run, in which case the default is true.")
	flags.BoolVarP(&o.Quiet, "quiet", "q", o.Quiet, "If true, suppress informational messages.")
	o.PrintFlags.AddFlags(cmd)
	cmdutil.AddDryRunFlag(cmd)
	cmdutil.AddFieldManagerFlagVar(cmd, &o.FieldManager, "kubectl-modelbox")
}

func profileNames() []string {
	var names []string
	for _, profile := range debugcontainer.Profiles() {
		names = append(names, string(profile))
	}
	return names
}

// Complete takes the arguments, and connects to the cluster.
func (o *Options) Complete(f cmdutil.Factory, cmd *cobra.Command, arguments []string) error {
	names := arguments
	if dash := cmd.ArgsLenAtDash(); dash >= 0 {
		names, o.Command = arguments[:dash], arguments[dash:]
	}
	if len(names) != 1 {
		return cmdutil.UsageErrorf(cmd, "expected the name of one box, and a command only after --")
	}
	var err error
	if o.Box, err = cliutil.BoxName(names[0]); err != nil {
		return err
	}
	if o.Namespace, _, err = f.ToRawKubeConfigLoader().Namespace(); err != nil {
		return err
	}
	if o.DryRun, err = cmdutil.GetDryRunStrategy(cmd); err != nil {
		return err
	}
	o.Debug.ImagePullPolicy = corev1.PullPolicy(cmdutil.GetFlagString(cmd, "image-pull-policy"))
	o.Debug.Profile = modelv1.DebugProfile(cmdutil.GetFlagString(cmd, "profile"))
	if o.ArgsOnly {
		o.Debug.Args = o.Command
	} else {
		o.Debug.Command = o.Command
	}
	o.Debug.Env = nil
	for _, name := range slices.Sorted(maps.Keys(o.Env)) {
		o.Debug.Env = append(o.Debug.Env, corev1.EnvVar{Name: name, Value: o.Env[name]})
	}
	if !cmd.Flags().Changed("attach") {
		o.Attach = o.Debug.Stdin && !o.Debug.AllPods && o.DryRun == cmdutil.DryRunNone
	}
	cmdutil.PrintFlagsWithDryRunStrategy(o.PrintFlags, o.DryRun)
	if o.printer, err = o.PrintFlags.ToPrinter(); err != nil {
		return err
	}
	return o.connect(f)
}

func (o *Options) connect(f cmdutil.Factory) (err error) {
	if o.config, err = f.ToRESTConfig(); err != nil {
		return err
	}
	if o.client, err = versioned.NewForConfig(o.config); err != nil {
		return err
	}
	o.kube, err = kubernetes.NewForConfig(o.config)
	return err
}

// Validate returns an error for flags that exclude each other. The server validates the request.
func (o *Options) Validate() error {
	switch {
	case o.Debug.Image == "":
		return errors.New("you must specify --image")
	case o.Debug.TTY && !o.Debug.Stdin:
		return errors.New("-i/--stdin is required for containers with -t/--tty=true")
	case o.Debug.AllPods && o.Debug.Pod != "":
		return errors.New("--all-pods and --pod may not be specified together")
	case o.ArgsOnly && len(o.Command) == 0:
		return errors.New("--arguments-only requires arguments after --")
	case o.DryRun == cmdutil.DryRunClient:
		return errors.New("--dry-run=client is not supported: use --dry-run=server")
	case o.Attach && o.Debug.AllPods:
		return errors.New("--attach and --all-pods may not be specified together")
	case o.Attach && o.DryRun != cmdutil.DryRunNone:
		return errors.New("--attach and --dry-run may not be specified together")
	case o.Attach && o.output() != "":
		return errors.New("--attach and --output may not be specified together")
	}
	return nil
}

func (o *Options) output() string {
	if o.PrintFlags.OutputFormat == nil {
		return ""
	}
	return *o.PrintFlags.OutputFormat
}

// Run adds the container, and attaches to it where that is asked for. The error has all pods that were refused.
func (o *Options) Run(ctx context.Context) error {
	options := metav1.CreateOptions{FieldManager: o.FieldManager}
	if o.DryRun == cmdutil.DryRunServer {
		options.DryRun = []string{metav1.DryRunAll}
	}
	answer, err := o.client.ModelV1().ModelBoxes(o.Namespace).CreateDebug(ctx, o.Box, &o.Debug, options)
	if err != nil {
		return err
	}
	if err := o.print(answer); err != nil {
		return err
	}
	if o.Attach && len(answer.Status.Pods) == 1 {
		return o.attach(ctx, answer.Status.Pods[0])
	}
	return refusals(answer)
}

// print prints what has been added. Before it is attached to, that is no output but a message.
func (o *Options) print(answer *modelv1.ModelBoxDebug) error {
	if o.output() != "" {
		return cliutil.PrintAnswer(o.printer, o.PrintFlags, &modelv1.ModelBox{ObjectMeta: answer.ObjectMeta}, answer, o.Out)
	}
	out, dryRun := o.Out, ""
	switch {
	case o.Attach && o.Quiet:
		return nil
	case o.Attach:
		out = o.ErrOut
	case o.DryRun == cmdutil.DryRunServer:
		dryRun = " (server dry run)"
	}
	for _, pod := range answer.Status.Pods {
		if pod.ContainerName == "" {
			continue
		}
		if _, err := fmt.Fprintf(out, "pod/%s: added container %s, which sees the processes of container %s%s\n", pod.Name, pod.ContainerName, pod.TargetContainer, dryRun); err != nil {
			return err
		}
	}
	return nil
}

// refusals returns an error for each pod that has not got the container.
func refusals(answer *modelv1.ModelBoxDebug) error {
	var errs []error
	for _, pod := range answer.Status.Pods {
		if pod.ContainerName == "" {
			errs = append(errs, fmt.Errorf("pod/%s: %s", pod.Name, cmp.Or(pod.Message, string(pod.Reason))))
		}
	}
	return utilerrors.NewAggregate(errs)
}
