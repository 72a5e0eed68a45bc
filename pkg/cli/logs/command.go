// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

// Package logs is "kubectl modelbox logs": the logs of the pods of boxes, by the subresource log, or where the server may not read
// them as "kubectl logs" does.
package logs

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/spf13/cobra"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	cmdutil "k8s.io/kubectl/pkg/cmd/util"
	"k8s.io/kubectl/pkg/util"
	"k8s.io/kubectl/pkg/util/templates"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/cli/cliutil"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/generated/clientset/versioned"
)

// selectorTail is how many lines there are of each log with a selector, as in kubectl.
const selectorTail = 10

// Options are the options of the command.
type Options struct {
	genericiooptions.IOStreams
	cliutil.Selection

	// Query is what the server is asked for, of each box.
	Query modelv1.ModelBoxLogOptions
	// Since and SinceTime leave out lines that are older, by their age or a time in RFC 3339.
	Since     time.Duration
	SinceTime string
	// Tail is how many lines from the end of each log are shown, all for -1.
	Tail int64
	// LimitBytes is how many bytes of each log are shown, all for 0.
	LimitBytes int64
	// MaxLogRequests is how many logs of a box are followed at a time, as many as the server says for 0.
	MaxLogRequests int64
	// Prefix is whether lines begin with their pods and containers, where the flag is given; otherwise the server decides.
	Prefix bool

	getter genericclioptions.RESTClientGetter
	client versioned.Interface
	// isSaid is done once it has been said that the server may not read logs.
	isSaid sync.Once
}

// NewCommand returns the command "kubectl modelbox logs".
func NewCommand(f cmdutil.Factory, streams genericiooptions.IOStreams) *cobra.Command {
	cliutil.RegisterTypes()
	o := &Options{IOStreams: streams, Tail: -1}
	cmd := &cobra.Command{
		Use:                   "logs (NAME... | TYPE/NAME... | -l SELECTOR) [-c CONTAINER] [flags]",
		DisableFlagsInUseLine: true,
		Short:                 "Print the logs of the pods of boxes and stacks",
		Long: "Print the logs of all pods of a box, or of one pod with --pod. The default is the main container. The name of " +
			"the pod and the container precedes each line, unless the logs are from one container of one pod. For a stack, " +
			"print the logs of all components. The name of the component precedes each line.\n\n--follow continues through " +
			"restarts and rollouts, with every new pod, until the box is deleted. You need permission to get modelboxes/log and " +
			"pods/log.\n\nIf the server does not have the component pod-access, the command reads the logs as kubectl logs " +
			"does. You then also need permission to list pods, and --follow follows only the pods that exist at its start.",
		Example: templates.Examples(`
			# Print the logs of all pods of box web
			kubectl modelbox logs web

			# Follow the logs of all pods of box web, including the pods of later rollouts
			kubectl modelbox logs web -f

			# Print the last 20 lines of container sidecar of each pod
			kubectl modelbox logs web -c sidecar --tail=20

			# Print the logs of the previous instances of all containers of one pod
			kubectl modelbox logs web --pod=web-557996f76b-nb7ck --all-containers -p

			# Follow the logs of all components of stack shop
			kubectl modelbox logs mst/shop -f

			# Follow the new log lines of all boxes with the tier=front label
			kubectl modelbox logs -l tier=front -f --tail=0`),
		ValidArgsFunction: cliutil.CompleteNames(f),
		RunE:              cliutil.RunE(f, o),
	}
	o.AddFlags(cmd)
	return cmd
}

// AddFlags adds the flags of kubectl logs that have a meaning for boxes.
func (o *Options) AddFlags(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&o.Query.Pod, "pod", o.Query.Pod, "Print the logs of this pod of the box, instead of all its pods.")
	flags.StringVarP(&o.Query.Container, "container", "c", o.Query.Container, "Print the logs of this container")
	flags.BoolVar(&o.Query.AllContainers, "all-containers", o.Query.AllContainers, "Get all containers' logs in the pod(s).")
	flags.BoolVarP(&o.Query.Follow, "follow", "f", o.Query.Follow, "Specify if the logs should be streamed.")
	flags.BoolVarP(&o.Query.Previous, "previous", "p", o.Query.Previous, "If true, print the logs for the previous instance of the container in a pod if it exists.")
	flags.BoolVar(&o.Query.Timestamps, "timestamps", o.Query.Timestamps, "Include timestamps on each line in the log output")
	flags.DurationVar(&o.Since, "since", o.Since, "Only return logs newer than a relative duration like 5s, 2m, or 3h. Defaults to all logs. Only one of since-time / since may be used.")
	flags.StringVar(&o.SinceTime, "since-time", o.SinceTime, "Only return logs after a specific date (RFC3339). Defaults to all logs. Only one of since-time / since may be used.")
	flags.Int64Var(&o.Tail, "tail", o.Tail, "Lines of recent log file to display for each container. Defaults to -1 with no selector, showing all log lines otherwise 10, if a selector is provided.")
	flags.Int64Var(&o.LimitBytes, "limit-bytes", o.LimitBytes, "Maximum bytes of logs to return for each container. Defaults to no limit.")
	flags.BoolVar(&o.Prefix, "prefix", o.Prefix, "Prefix each log line with the log source (pod name and container name). Defaults to true unless the logs are from one container of one pod.")
	flags.Int64Var(&o.MaxLogRequests, "max-log-requests", o.MaxLogRequests, "Specify maximum number of concurrent logs to follow for each box. Defaults to 50.")
	cmdutil.AddLabelSelectorFlagVar(cmd, &o.LabelSelector)
	cmdutil.CheckErr(cmd.RegisterFlagCompletionFunc("container", cobra.NoFileCompletions))
}

// Complete connects to the cluster, and makes of the flags what the server is asked for.
func (o *Options) Complete(f cmdutil.Factory, cmd *cobra.Command, arguments []string) error {
	if err := o.Selection.Complete(f, arguments); err != nil {
		return err
	}
	o.getter = f
	var err error
	if o.client, err = cliutil.NewClient(f); err != nil {
		return err
	}
	if o.SinceTime != "" {
		since, err := util.ParseRFC3339(o.SinceTime, metav1.Now)
		if err != nil {
			return fmt.Errorf("--since-time: %w", err)
		}
		o.Query.SinceTime = &since
	}
	if o.Since != 0 {
		o.Query.SinceSeconds = new(int64(o.Since.Round(time.Second) / time.Second))
	}
	flags := cmd.Flags()
	if o.LabelSelector != "" && !flags.Changed("tail") {
		o.Tail = selectorTail
	}
	if o.Tail != -1 {
		o.Query.TailLines = &o.Tail
	}
	if o.LimitBytes != 0 {
		o.Query.LimitBytes = &o.LimitBytes
	}
	if flags.Changed("prefix") {
		o.Query.Prefix = &o.Prefix
	}
	if flags.Changed("max-log-requests") {
		o.Query.MaxLogRequests = &o.MaxLogRequests
	}
	return nil
}

// Validate returns an error for flags that exclude each other. The server validates the options.
func (o *Options) Validate() error {
	if err := o.Selection.Validate(); err != nil {
		return err
	}
	if o.LabelSelector != "" && o.Query.Pod != "" {
		return fmt.Errorf("--selector and --pod may not be specified together")
	}
	if len(o.Arguments) > 1 && o.Query.Pod != "" {
		return fmt.Errorf("--pod may not be specified together with multiple boxes")
	}
	return nil
}

// Run prints the logs until they end.
func (o *Options) Run(ctx context.Context) error {
	selected, err := o.sources(ctx)
	if err != nil {
		return err
	}
	out := &lineWriter{out: o.Out}
	if !o.Query.Follow {
		for _, source := range selected {
			if err := o.print(ctx, source, out); err != nil {
				return err
			}
		}
		return nil
	}
	return o.followAll(ctx, selected, out)
}
