// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package cliutil

import (
	"context"
	"errors"
	"fmt"
	"sort"
	"time"

	"github.com/spf13/cobra"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	coreclient "k8s.io/client-go/kubernetes/typed/core/v1"
	cmdutil "k8s.io/kubectl/pkg/cmd/util"
	"k8s.io/kubectl/pkg/polymorphichelpers"
	"k8s.io/kubectl/pkg/util/completion"
	"k8s.io/kubectl/pkg/util/podutils"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
)

// PodSelector selects the pods of a box.
func PodSelector(box string) labels.Selector {
	return labels.SelectorFromSet(labels.Set{modelv1.SelectorLabel: box})
}

// attachablePod returns one of the running pods of a box, and of any other object what the function returns.
func attachablePod(others polymorphichelpers.AttachablePodForObjectFunc) polymorphichelpers.AttachablePodForObjectFunc {
	return func(getter genericclioptions.RESTClientGetter, object runtime.Object, timeout time.Duration) (*corev1.Pod, error) {
		mostActiveFirst := func(pods []*corev1.Pod) sort.Interface { return sort.Reverse(podutils.ActivePods(pods)) }
		pods, err := podsOf(getter, object, timeout, mostActiveFirst)
		if err != nil {
			return nil, err
		}
		if pods == nil {
			return others(getter, object, timeout)
		}
		return &pods.Items[0], nil
	}
}

// AddPodFlag adds the flag --pod, and returns what it is set to: the pod of the box for ChoosePod.
func AddPodFlag(cmd *cobra.Command, f cmdutil.Factory) *string {
	name := cmd.Flags().String("pod", "", "Name of the pod of the box. If empty, the command selects a running pod, and prefers a ready one.")
	cmdutil.CheckErr(cmd.RegisterFlagCompletionFunc("pod", func(_ *cobra.Command, _ []string, toComplete string) ([]string, cobra.ShellCompDirective) {
		return completion.CompGetResource(f, "pod", toComplete), cobra.ShellCompDirectiveNoFileComp
	}))
	return name
}

// ChoosePod makes kubectl's commands use the pod of that name of a box, in this process. "" leaves the choice to them.
func ChoosePod(ctx context.Context, name string) {
	if name == "" {
		return
	}
	polymorphichelpers.AttachablePodForObjectFn = func(getter genericclioptions.RESTClientGetter, object runtime.Object, _ time.Duration) (*corev1.Pod, error) {
		box, ok := object.(*modelv1.ModelBox)
		if !ok {
			return nil, errors.New("--pod is only valid for a box")
		}
		client, err := newCoreClient(getter)
		if err != nil {
			return nil, err
		}
		pod, err := client.Pods(box.Namespace).Get(ctx, name, metav1.GetOptions{})
		if err != nil {
			return nil, err
		}
		if !PodSelector(box.Name).Matches(labels.Set(pod.Labels)) {
			return nil, fmt.Errorf("pod %s does not belong to box %s", name, box.Name)
		}
		return pod, nil
	}
}

func newCoreClient(getter genericclioptions.RESTClientGetter) (*coreclient.CoreV1Client, error) {
	config, err := getter.ToRESTConfig()
	if err != nil {
		return nil, err
	}
	return coreclient.NewForConfig(config)
}

// podsOf returns the pods of a box in an order, at least one, for which it waits. For what is neither a box nor a stack it is nil.
func podsOf(
	getter genericclioptions.RESTClientGetter, object runtime.Object, timeout time.Duration, order func([]*corev1.Pod) sort.Interface,
) (*corev1.PodList, error) {
	switch object := object.(type) {
	case *modelv1.ModelBox:
		client, err := newCoreClient(getter)
		if err != nil {
			return nil, err
		}
		pods, err := polymorphichelpers.GetPodList(client, object.Namespace, PodSelector(object.Name).String(), timeout, order)
		if err != nil {
			return nil, fmt.Errorf("getting the pods of box %s: %w", object.Name, err)
		}
		return pods, nil
	case *modelv1.ModelStack:
		return nil, fmt.Errorf("stack %s has multiple boxes: specify one of them", object.Name)
	}
	return nil, nil
}
