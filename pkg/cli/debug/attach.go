// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package debug

import (
	"context"
	"fmt"
	"io"
	"net/url"
	"os"
	"os/signal"
	"syscall"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/remotecommand"
	"k8s.io/kubectl/pkg/cmd/attach"
	"k8s.io/kubectl/pkg/cmd/exec"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
)

// attach waits until the container of the pod runs, and attaches to it as kubectl does. Of one that takes no input, that has ended
// already, or that cannot be attached to, it prints the logs: an attachment would miss what was printed before it.
func (o *Options) attach(ctx context.Context, added modelv1.ModelBoxDebugPod) error {
	pod, err := o.awaitContainer(ctx, added.Name, added.ContainerName)
	if err != nil {
		return err
	}
	if !o.Debug.Stdin || statusOf(pod, added.ContainerName).State.Terminated != nil {
		return o.printLogs(ctx, pod, added.ContainerName)
	}
	options := &attach.AttachOptions{
		StreamOptions: exec.StreamOptions{
			IOStreams: o.IOStreams, Namespace: pod.Namespace, PodName: pod.Name, ContainerName: added.ContainerName,
			Stdin: o.Debug.Stdin, TTY: o.Debug.TTY, Quiet: o.Quiet,
		},
		CommandName: "kubectl attach",
		Pod:         pod,
		Config:      o.config,
		AttachFunc:  attach.DefaultAttachFunc,
		Attach:      &boxAttach{location: o.client.ModelV1().RESTClient().Get().Namespace(o.Namespace).Resource("modelboxes").Name(o.Box).SubResource("attach").URL(), pod: pod.Name},
	}
	// From here on the terminal is looked after by kubectl.
	signal.Reset(os.Interrupt, syscall.SIGTERM)
	if err := options.Run(); err != nil {
		fmt.Fprintf(o.ErrOut, "warning: couldn't attach to pod/%s, falling back to streaming logs: %v\n", pod.Name, err)
		return o.printLogs(ctx, pod, added.ContainerName)
	}
	return nil
}

// boxAttach attaches by the subresource of a box, with the options for one of its pods.
type boxAttach struct {
	attach.DefaultRemoteAttach
	location *url.URL
	pod      string
}

// Attach attaches with the options in the address of the pod.
func (a *boxAttach) Attach(ofPod *url.URL, config *rest.Config, stdin io.Reader, stdout, stderr io.Writer, tty bool, sizes remotecommand.TerminalSizeQueue) error {
	query := ofPod.Query()
	query.Set("pod", a.pod)
	location := *a.location
	location.RawQuery = query.Encode()
	return a.DefaultRemoteAttach.Attach(&location, config, stdin, stdout, stderr, tty, sizes)
}

// printLogs prints what the container prints, until it ends.
func (o *Options) printLogs(ctx context.Context, pod *corev1.Pod, container string) error {
	logs, err := o.kube.CoreV1().Pods(pod.Namespace).GetLogs(pod.Name, &corev1.PodLogOptions{Container: container, Follow: true}).Stream(ctx)
	if err != nil {
		return fmt.Errorf("reading the logs of container %s: %w", container, err)
	}
	defer logs.Close()
	_, err = io.Copy(o.Out, logs)
	return err
}
