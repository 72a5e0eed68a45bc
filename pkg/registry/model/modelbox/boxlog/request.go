// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

// Package boxlog joins the logs of the pods of a box into one stream of text, and can follow them through restarts and rollouts. A
// connection to a log can break at any time, or end as if the log was complete. Each line is delivered once nevertheless.
package boxlog

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model"
	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/registry/model/modelbox"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/render/debugcontainer"
)

// Request is what is asked for. Its functions are called by several goroutines, until the context of the stream is done.
type Request struct {
	// Box is whose logs are read, and Options which. They are valid.
	Box     *modelv1.ModelBox
	Options *model.ModelBoxLogOptions
	// Pods are the requested pods of the box at the time of the request: at least one, unless the logs are followed.
	Pods []corev1.Pod

	// Open opens the log of a container.
	Open func(ctx context.Context, pod types.NamespacedName, options *corev1.PodLogOptions) (io.ReadCloser, error)
	// CheckPod returns an error unless the log of the pod may be read.
	CheckPod func(ctx context.Context, pod string) error
	// Record is called with the pods whose logs are read: once with the pods at the beginning of the stream, and then with each
	// later pod.
	Record func(ctx context.Context, isLater bool, pods []string)
	// WatchPods is WatchPods of modelbox.ChildReader. It is nil if the request follows nothing.
	WatchPods func(ctx context.Context, changed func()) (func(context.Context) ([]corev1.Pod, error), error)
	// PodUID returns the UID of the pod that has that name now, empty for none.
	PodUID func(ctx context.Context, pod types.NamespacedName) (types.UID, error)
	// AwaitDeletion closes gone when the box has been deleted, so that its pods end. It also closes abandoned if they continue
	// without the box. It returns when ctx is done. It is not called where nothing is followed.
	AwaitDeletion func(ctx context.Context, gone, abandoned chan<- struct{})
	// UntilStop returns a context that is done with ctx, and before that when the server stops.
	UntilStop func(ctx context.Context) (context.Context, context.CancelFunc)
}

// Validate returns 400 where the containers that are asked for are not there, or have no log of that kind, or are more than may
// be followed.
func (r *Request) Validate() error {
	logs := r.countLogs()
	switch {
	case logs == 0 && len(r.Pods) > 0 && r.Options.Container != "" && !r.Options.Previous:
		_, err := modelbox.SelectContainer(r.Box, &r.Pods[0], r.Options.Container)
		return err
	case logs == 0 && len(r.Pods) > 0 && r.Options.Previous:
		return apierrors.NewBadRequest("previous: no selected container has a previous instance")
	case r.Options.Follow && logs > r.maxLogs():
		return apierrors.NewBadRequest(fmt.Sprintf("maxLogRequests: cannot follow %d logs, the maximum is %d: select a pod, or increase maxLogRequests", logs, r.maxLogs()))
	}
	return nil
}

func (r *Request) maxLogs() int {
	if r.Options.MaxLogRequests == nil {
		return modelv1.DefaultMaxLogRequests
	}
	return int(*r.Options.MaxLogRequests)
}

// Connections returns how many connections there will be when it begins.
func (r *Request) Connections() int {
	if !r.Options.Follow {
		return min(len(r.Pods), 1)
	}
	return r.countLogs()
}

// countLogs returns how many logs there are now of what is asked for.
func (r *Request) countLogs() int {
	logs := 0
	for i := range r.Pods {
		logs += len(r.containersOf(&r.Pods[i]))
	}
	return logs
}

// containersOf returns the names of the containers of the pod that are asked for.
func (r *Request) containersOf(pod *corev1.Pod) []string {
	var names []string
	switch {
	case r.Options.AllContainers:
		names = debugcontainer.ContainerNames(pod)
	default:
		name, err := modelbox.SelectContainer(r.Box, pod, r.Options.Container)
		if err != nil {
			return nil // the pod is of another revision
		}
		names = []string{name}
	}
	if r.Options.Previous {
		names = slices.DeleteFunc(names, func(name string) bool { return !hasPrevious(pod, name) })
	}
	return names
}

// isOnlyLog returns whether it is one log that is asked for.
func (r *Request) isOnlyLog() bool { return r.Options.Pod != "" && !r.Options.AllContainers }

// newWriter returns what delivers the lines of a log to out.
func (r *Request) newWriter(out io.Writer, pod, container string) *lineWriter {
	w := &lineWriter{out: out, isOnly: r.isOnlyLog(), timestamps: r.Options.Timestamps}
	hasPrefix := !w.isOnly
	if r.Options.Prefix != nil {
		hasPrefix = *r.Options.Prefix
	}
	if hasPrefix {
		w.prefix = fmt.Sprintf("[pod/%s/%s] ", pod, container) // as kubectl has it
	}
	if r.Options.LimitBytes != nil {
		w.limited, w.left = true, *r.Options.LimitBytes
	}
	return w
}

// podLogOptions returns the options of the first request for a log. A log that existed when the stream began has the requested
// options. A later log is read from its beginning.
func (r *Request) podLogOptions(container string, isLater bool, age time.Duration) *corev1.PodLogOptions {
	options := &corev1.PodLogOptions{
		Container: container, Follow: r.Options.Follow, Previous: r.Options.Previous, SinceTime: r.Options.SinceTime, Timestamps: true,
	}
	if isLater {
		return options
	}
	options.TailLines = r.Options.TailLines
	if r.Options.SinceSeconds != nil {
		options.SinceSeconds = new(*r.Options.SinceSeconds + int64(age/time.Second))
	}
	return options
}

// sorted returns the pods in the order of their creation.
func sorted(pods []corev1.Pod) []corev1.Pod {
	return slices.SortedFunc(slices.Values(pods), func(a, b corev1.Pod) int {
		return cmp.Or(a.CreationTimestamp.Compare(b.CreationTimestamp.Time), cmp.Compare(a.Name, b.Name))
	})
}

func nameOf(pod *corev1.Pod) types.NamespacedName {
	return types.NamespacedName{Namespace: pod.Namespace, Name: pod.Name}
}
