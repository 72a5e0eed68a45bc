// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package debug

import (
	"context"
	"errors"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"
	watchtools "k8s.io/client-go/tools/watch"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/cli/cliutil"
)

// lastingReasons are the reasons that a kubelet gives for a container that will not run until a user changes something. The kubelet
// has tried more than once, need not try, or does not try again: it does not start an ephemeral container again whose command is
// not in its image.
var lastingReasons = []string{"ImagePullBackOff", "InvalidImageName", "ErrImageNeverPull", "CreateContainerConfigError", "RunContainerError"}

// awaitContainer returns the pod when its container runs, or has ended. The error says why the container does not run: its image
// cannot be pulled, or the pod is gone.
func (o *Options) awaitContainer(ctx context.Context, pod, container string) (*corev1.Pod, error) {
	pods := cache.NewListWatchFromClient(o.kube.CoreV1().RESTClient(), "pods", o.Namespace, fields.OneTermEqualSelector("metadata.name", pod))
	said := ""
	event, err := watchtools.UntilWithSync(ctx, pods, &corev1.Pod{}, nil, func(event watch.Event) (bool, error) {
		seen, ok := event.Object.(*corev1.Pod)
		if !ok {
			return false, fmt.Errorf("unexpected object in the watch of the pod: %T", event.Object)
		}
		if event.Type == watch.Deleted {
			return false, apierrors.NewNotFound(corev1.Resource("pods"), pod)
		}
		status := statusOf(seen, container)
		switch {
		case status == nil:
		case status.State.Running != nil || status.State.Terminated != nil:
			return true, nil
		case status.State.Waiting != nil && status.State.Waiting.Message != "":
			waiting := status.State.Waiting
			why := fmt.Sprintf("container %s of pod/%s is not running: %s: %s", container, pod, waiting.Reason, cliutil.OneLine(waiting.Message))
			if slices.Contains(lastingReasons, waiting.Reason) {
				return false, errors.New(why)
			}
			if !o.Quiet && why != said {
				said = why
				fmt.Fprintln(o.ErrOut, "warning:", why)
			}
		}
		if seen.Status.Phase == corev1.PodSucceeded || seen.Status.Phase == corev1.PodFailed {
			return false, fmt.Errorf("pod/%s ran to completion with phase %s", pod, seen.Status.Phase)
		}
		return false, nil
	})
	if err != nil {
		return nil, fmt.Errorf("waiting for container %s: %w", container, err)
	}
	return event.Object.(*corev1.Pod), nil
}

// statusOf returns the status of the ephemeral container, nil before there is one.
func statusOf(pod *corev1.Pod, container string) *corev1.ContainerStatus {
	statuses := pod.Status.EphemeralContainerStatuses
	i := slices.IndexFunc(statuses, func(status corev1.ContainerStatus) bool { return status.Name == container })
	if i < 0 {
		return nil
	}
	return &statuses[i]
}
