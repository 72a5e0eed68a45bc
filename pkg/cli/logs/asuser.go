// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package logs

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	utilerrors "k8s.io/apimachinery/pkg/util/errors"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	coreclient "k8s.io/client-go/kubernetes/typed/core/v1"
	kubectllogs "k8s.io/kubectl/pkg/cmd/logs"
	"k8s.io/kubectl/pkg/polymorphichelpers"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/cli/cliutil"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/render/debugcontainer"
)

// startTimeout is how long a container may take to have a log that is to be followed, as in kubectl.
const startTimeout = 20 * time.Second

// containerLog is the log of a container of a pod.
type containerLog struct {
	pod       *corev1.Pod
	container string
}

// printAsUser prints the logs of the current pods of the box with the permissions of the user, like "kubectl logs". If it cannot
// read a log, it still prints the other ones.
func (o *Options) printAsUser(ctx context.Context, source source, out io.Writer) error {
	box := source.box
	o.isSaid.Do(func() {
		later := ""
		if o.Query.Follow {
			later = ", and new pods are not followed"
		}
		fmt.Fprintf(o.ErrOut, "warning: the server does not have the component pod-access: reading logs with the permissions of the user%s\n", later)
	})
	pods, err := o.podsOf(ctx, box)
	if err != nil {
		return err
	}
	logs, err := o.logsOf(box, pods)
	if err != nil {
		return err
	}
	errs := make([]error, len(logs))
	read := func(i int) {
		if err := o.kubectlLogs(logs[i], source.writer(out)).RunLogsContext(ctx); err != nil && ctx.Err() == nil {
			errs[i] = fmt.Errorf("container %s of pod %s: %w", logs[i].container, logs[i].pod.Name, err)
		}
	}
	var following sync.WaitGroup
	for i := range logs {
		if o.Query.Follow {
			following.Go(func() { read(i) })
		} else {
			read(i)
		}
	}
	following.Wait()
	return utilerrors.Reduce(utilerrors.NewAggregate(errs))
}

// podsOf returns the pods of the box that are asked for, at least one, in the order of their creation.
func (o *Options) podsOf(ctx context.Context, box *modelv1.ModelBox) ([]corev1.Pod, error) {
	config, err := o.getter.ToRESTConfig()
	if err != nil {
		return nil, err
	}
	client, err := coreclient.NewForConfig(config)
	if err != nil {
		return nil, err
	}
	list, err := client.Pods(box.Namespace).List(ctx, metav1.ListOptions{LabelSelector: cliutil.PodSelector(box.Name).String()})
	if err != nil {
		return nil, fmt.Errorf("listing the pods of %s: %w", box.Name, err)
	}
	pods := list.Items
	if o.Query.Pod != "" {
		pods = slices.DeleteFunc(pods, func(pod corev1.Pod) bool { return pod.Name != o.Query.Pod })
	}
	switch {
	case len(pods) > 0:
		slices.SortFunc(pods, func(a, b corev1.Pod) int {
			return cmp.Or(a.CreationTimestamp.Compare(b.CreationTimestamp.Time), cmp.Compare(a.Name, b.Name))
		})
		return pods, nil
	case o.Query.Pod != "":
		return nil, apierrors.NewNotFound(corev1.Resource("pods"), o.Query.Pod)
	default:
		return nil, fmt.Errorf("%s has no pods", box.Name)
	}
}

// logsOf returns the logs of the pods that are asked for, at least one. Pods that have none such are left out.
func (o *Options) logsOf(box *modelv1.ModelBox, pods []corev1.Pod) ([]containerLog, error) {
	var logs []containerLog
	for i := range pods {
		for _, container := range o.containersOf(box, &pods[i]) {
			logs = append(logs, containerLog{&pods[i], container})
		}
	}
	maxLogs := int64(modelv1.DefaultMaxLogRequests)
	if o.Query.MaxLogRequests != nil {
		maxLogs = *o.Query.MaxLogRequests
	}
	switch {
	case len(logs) == 0 && o.Query.Previous:
		return nil, fmt.Errorf("--previous: no selected container of %s has a previous instance", box.Name)
	case len(logs) == 0:
		return nil, fmt.Errorf("container %s is not valid for pod %s out of: %s",
			o.Query.Container, pods[0].Name, strings.Join(debugcontainer.ContainerNames(&pods[0]), ", "))
	case o.Query.Follow && int64(len(logs)) > maxLogs:
		return nil, fmt.Errorf("cannot follow %[2]d logs of %[1]s, the maximum is %[3]d: select a pod with --pod, or use --max-log-requests to increase the limit",
			box.Name, len(logs), maxLogs)
	}
	return logs, nil
}

// containersOf returns the names of the containers of the pod that are asked for, by default of the one that the server takes.
func (o *Options) containersOf(box *modelv1.ModelBox, pod *corev1.Pod) []string {
	names := debugcontainer.ContainerNames(pod)
	switch {
	case o.Query.AllContainers:
	case o.Query.Container == "":
		names = []string{debugcontainer.DefaultTarget(pod, box.Spec.Name, box.Name)}
	case slices.Contains(names, o.Query.Container):
		names = []string{o.Query.Container}
	default:
		return nil
	}
	if o.Query.Previous {
		names = slices.DeleteFunc(names, func(name string) bool { return !hasPrevious(pod, name) })
	}
	return names
}

// hasPrevious returns whether another instance of the container ran before the one that runs.
func hasPrevious(pod *corev1.Pod, container string) bool {
	statuses := slices.Concat(pod.Status.ContainerStatuses, pod.Status.InitContainerStatuses, pod.Status.EphemeralContainerStatuses)
	return slices.ContainsFunc(statuses, func(status corev1.ContainerStatus) bool {
		return status.Name == container && status.LastTerminationState.Terminated != nil
	})
}

// kubectlLogs returns what reads a log as "kubectl logs" does.
func (o *Options) kubectlLogs(log containerLog, out io.Writer) *kubectllogs.LogsOptions {
	logs := kubectllogs.NewLogsOptions(genericiooptions.IOStreams{In: o.In, Out: out, ErrOut: o.ErrOut})
	logs.RESTClientGetter, logs.LogsForObject, logs.ConsumeRequestFn = o.getter, polymorphichelpers.LogsForObjectFn, kubectllogs.DefaultConsumeRequest
	logs.Object, logs.Follow, logs.GetPodTimeout = log.pod, o.Query.Follow, startTimeout
	logs.Prefix = o.Query.Pod == "" || o.Query.AllContainers
	if o.Query.Prefix != nil {
		logs.Prefix = *o.Query.Prefix
	}
	logs.Options = &corev1.PodLogOptions{
		Container: log.container, Follow: o.Query.Follow, Previous: o.Query.Previous, Timestamps: o.Query.Timestamps,
		SinceSeconds: o.Query.SinceSeconds, SinceTime: o.Query.SinceTime, TailLines: o.Query.TailLines, LimitBytes: o.Query.LimitBytes,
	}
	return logs
}
