// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

// Package top is "kubectl modelbox top": what the pods of boxes use, against what they request.
package top

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/spf13/cobra"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"k8s.io/client-go/kubernetes"
	cmdutil "k8s.io/kubectl/pkg/cmd/util"
	"k8s.io/kubectl/pkg/util/templates"
	metricsv1beta1 "k8s.io/metrics/pkg/apis/metrics/v1beta1"
	metrics "k8s.io/metrics/pkg/client/clientset/versioned"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/cli/cliutil"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/generated/clientset/versioned"
)

// Options are the options of the command.
type Options struct {
	genericiooptions.IOStreams
	cliutil.Selection

	// SortBy is "cpu" or "memory" for those that use the most first, "" for the order of names.
	SortBy string
	// Recommend prints a line for each container, with the requests that it needs.
	Recommend bool
	// NoHeaders leaves out the names of the columns.
	NoHeaders bool

	client  kubernetes.Interface
	boxes   versioned.Interface
	metrics metrics.Interface
}

// NewCommand returns the command "kubectl modelbox top".
func NewCommand(f cmdutil.Factory, streams genericiooptions.IOStreams) *cobra.Command {
	o := &Options{IOStreams: streams}
	cmd := &cobra.Command{
		Use:                   "top (NAME... | TYPE/NAME... | -l SELECTOR)",
		DisableFlagsInUseLine: true,
		Short:                 "Display resource (CPU/memory) usage of boxes",
		Long: "Display the CPU and memory that the pods of each box use together, and the percentage of the requests of their " +
			"containers. For a stack, display its boxes. Without names, display all boxes of the namespace.\n\nWith --recommend, display " +
			"the highest usage of a pod for each container, its requests, and recommended requests, and print the commands that set them. " +
			"The recommendation is based on the last measurement only.\n\nThe cluster must serve metrics.k8s.io, as metrics-server does.",
		Example: templates.Examples(`
			# Show metrics for all boxes of the namespace
			kubectl modelbox top

			# Show metrics for the boxes of stack shop, sorted by memory
			kubectl modelbox top mst/shop --sort-by=memory

			# Compare the requests of box web with what its containers use
			kubectl modelbox top web --recommend`),
		ValidArgsFunction: cliutil.CompleteNames(f),
		RunE:              cliutil.RunE(f, o),
	}
	o.AddFlags(cmd)
	cmd.Flags().StringVar(&o.SortBy, "sort-by", o.SortBy, "If non-empty, sort boxes using specified field. The field can be either 'cpu' or 'memory'.")
	cmd.Flags().BoolVar(&o.Recommend, "recommend", o.Recommend, "If true, display each container with recommended requests, and print the commands that set them.")
	cmd.Flags().BoolVar(&o.NoHeaders, "no-headers", o.NoHeaders, "If present, print output without headers.")
	cmdutil.CheckErr(cmd.RegisterFlagCompletionFunc("sort-by", cobra.FixedCompletions([]string{"cpu", "memory"}, cobra.ShellCompDirectiveNoFileComp)))
	return cmd
}

// Complete connects to the cluster.
func (o *Options) Complete(f cmdutil.Factory, _ *cobra.Command, arguments []string) error {
	if err := o.Selection.Complete(f, arguments); err != nil {
		return err
	}
	config, err := f.ToRESTConfig()
	if err != nil {
		return err
	}
	if o.client, err = kubernetes.NewForConfig(config); err != nil {
		return err
	}
	if o.boxes, err = versioned.NewForConfig(config); err != nil {
		return err
	}
	o.metrics, err = metrics.NewForConfig(config)
	return err
}

// Validate returns an error for flags that have no meaning.
func (o *Options) Validate() error {
	if !slices.Contains([]string{"", "cpu", "memory"}, o.SortBy) {
		return fmt.Errorf("--sort-by accepts only cpu or memory, not %q", o.SortBy)
	}
	return o.Selection.Validate()
}

// Run prints a line for each box.
func (o *Options) Run(ctx context.Context) error {
	objects, err := o.Get()
	if err != nil {
		return err
	}
	selected, err := cliutil.WithComponents(ctx, o.boxes, objects)
	if err != nil {
		return err
	}
	if len(selected) == 0 {
		fmt.Fprintln(o.ErrOut, o.NothingFound())
		return nil
	}
	usages, err := o.usages(ctx, selected)
	if err != nil {
		return err
	}
	sortUsages(usages, o.SortBy)
	if o.Recommend {
		return o.printRecommendations(usages)
	}
	return o.print(usages)
}

// usages returns what the pods of each box use. Each namespace costs a request for its pods, and one for their metrics.
func (o *Options) usages(ctx context.Context, selected []*modelv1.ModelBox) ([]*usage, error) {
	all := make([]*usage, 0, len(selected))
	namespaces := map[string]map[string]*usage{}
	for _, box := range selected {
		of := namespaces[box.Namespace]
		if of == nil {
			of = map[string]*usage{}
			namespaces[box.Namespace] = of
		}
		of[box.Name] = &usage{box: box}
		all = append(all, of[box.Name])
	}
	for namespace, of := range namespaces {
		if err := measure(ctx, o.client, o.metrics, namespace, modelv1.SelectorLabel, of); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// measure adds the pods of a namespace that a label selector matches to the boxes that they are labelled with.
func measure(ctx context.Context, client kubernetes.Interface, metrics metrics.Interface, namespace, selector string, of map[string]*usage) error {
	options := metav1.ListOptions{LabelSelector: selector}
	measured, err := metrics.MetricsV1beta1().PodMetricses(namespace).List(ctx, options)
	if apierrors.IsNotFound(err) {
		return errors.New("metrics API not available: the cluster does not serve metrics.k8s.io")
	}
	if err != nil {
		return fmt.Errorf("getting the metrics of pods: %w", err)
	}
	pods, err := client.CoreV1().Pods(namespace).List(ctx, options)
	if err != nil {
		return fmt.Errorf("listing the pods of boxes: %w", err)
	}
	addPods(of, pods.Items, measured.Items)
	return nil
}

// addPods adds pods that run, and what was measured of them, to the boxes that they are labelled with.
func addPods(of map[string]*usage, pods []corev1.Pod, measured []metricsv1beta1.PodMetrics) {
	byName := map[string]*metricsv1beta1.PodMetrics{}
	for i := range measured {
		byName[measured[i].Name] = &measured[i]
	}
	for i := range pods {
		pod := &pods[i]
		if usage := of[pod.Labels[modelv1.SelectorLabel]]; usage != nil && pod.Status.Phase == corev1.PodRunning {
			usage.add(pod, byName[pod.Name])
		}
	}
}
