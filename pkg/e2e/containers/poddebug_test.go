// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package containers

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/remotecommand"
	"k8s.io/utils/ptr"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/e2e/framework"
)

// An image of the container node with a shell.
const (
	shellImage   = "localcluster/mariadb:1"
	shellArchive = "localcluster-mariadb-1.tar"
	shell        = "/bin/busybox"
)

// appProcess is the process of the test application in another container that shares its process namespace.
const appProcess = "/testapp -version=1"

// debuggersSeeTheTarget adds containers with another image to the pods of a running box.
func debuggersSeeTheTarget(n *framework.Namespace) {
	if !hasImage(shellArchive) {
		n.T.Skip("no image with a shell has been built")
	}
	n.ControlPlane.GrantPodAccess(n.T)
	n.CreateReadyBox(newAppBox("web", func(spec *modelv1.ModelBoxSpec) {
		spec.Replicas = ptr.To[int32](2)
	}))
	n.T.Run("in all pods, and their logs can be read", func(t *testing.T) { debugAllPods(n.In(t)) })
	n.T.Run("in a pod that a user attaches to", func(t *testing.T) { debugAttached(n.In(t)) })
	n.T.Run("by kubectl modelbox debug", func(t *testing.T) { debugByPlugin(n.In(t)) })
	if restarts := restartsOf(n, "web"); restarts != 0 {
		n.T.Errorf("the containers of the box were started again %d times", restarts)
	}
}

// debugAllPods lists the processes in every pod, and reads them in the logs.
func debugAllPods(n *framework.Namespace) {
	answer, err := n.Boxes.CreateDebug(n.Ctx, "web", &modelv1.ModelBoxDebug{Image: shellImage, Command: []string{shell, "ps"}, AllPods: true}, metav1.CreateOptions{})
	if err != nil {
		n.T.Fatal(err)
	}
	if len(answer.Status.Pods) != 2 {
		n.T.Fatalf("it has not been added to both pods: %+v", answer.Status.Pods)
	}
	for _, pod := range answer.Status.Pods {
		n.Eventually("the container of "+pod.Name+" has listed the processes of the application", func() error {
			logs, err := n.Pods.GetLogs(pod.Name, &corev1.PodLogOptions{Container: pod.ContainerName}).DoRaw(n.Ctx)
			if err == nil && !strings.Contains(string(logs), appProcess) {
				err = fmt.Errorf("it has printed %q", logs)
			}
			return err
		})
	}
}

// debugAttached lists the processes in a shell with a terminal, through the subresource attach of the box.
func debugAttached(n *framework.Namespace) {
	answer, err := n.Boxes.CreateDebug(n.Ctx, "web", &modelv1.ModelBoxDebug{
		Image: shellImage, Command: []string{shell, "sh"}, ContainerName: "shell", Stdin: true, TTY: true,
	}, metav1.CreateOptions{})
	if err != nil {
		n.T.Fatal(err)
	}
	pod := answer.Status.Pods[0].Name
	n.Eventually("the shell runs", func() error { return checkRuns(n, pod, "shell") })

	ctx, cancel := context.WithTimeout(n.Ctx, framework.Patience)
	defer cancel()
	fromUser, toContainer := io.Pipe()
	fromContainer, toUser := io.Pipe()
	ended := make(chan error, 1)
	go func() {
		ended <- n.Stream(ctx, n.ControlPlane.Config, "WebSocket", "web", "attach", &modelv1.ModelBoxAttachOptions{Pod: pod, Container: "shell", Stdin: true, Stdout: true, TTY: true},
			remotecommand.StreamOptions{Stdin: fromUser, Stdout: toUser, Tty: true})
		toUser.CloseWithError(errors.New("the stream has ended"))
	}()
	go func() { _, _ = io.WriteString(toContainer, "busybox ps; exit\n") }()
	printed, err := io.ReadAll(fromContainer)
	if !strings.Contains(string(printed), appProcess) {
		n.T.Errorf("the shell has printed %q, %v", printed, err)
	}
	if err := <-ended; err != nil {
		n.T.Errorf("the shell that exits ends the stream with %v", err)
	}
}

// checkRuns returns an error unless the ephemeral container runs.
func checkRuns(n *framework.Namespace, pod, container string) error {
	live, err := n.Pods.Get(n.Ctx, pod, metav1.GetOptions{})
	if err != nil {
		return err
	}
	for _, status := range live.Status.EphemeralContainerStatuses {
		if status.Name == container && status.State.Running != nil {
			return nil
		}
	}
	return fmt.Errorf("it does not run: %+v", live.Status.EphemeralContainerStatuses)
}

// debugByPlugin does the same with the plugin, which must also report why a container does not run.
func debugByPlugin(n *framework.Namespace) {
	command := func(arguments ...string) *exec.Cmd {
		return exec.CommandContext(n.Ctx, framework.Binary("kubectl-modelbox"), append([]string{"debug", "web", "--namespace=" + n.Name, "--kubeconfig=" + n.ControlPlane.Kubeconfig()}, arguments...)...)
	}
	debug := func(arguments ...string) framework.KubectlResult {
		return framework.RunKubectl(command(arguments...), "")
	}

	// Keep the input open, because the attachment ends with its input, before the output of the command is printed.
	typing := command("--stdin", "--image="+shellImage, "--", shell, "sh")
	input, err := typing.StdinPipe()
	if err != nil {
		n.T.Fatal(err)
	}
	screen := &screenOf{text: appProcess, seen: func() { _, _ = io.WriteString(input, "exit\n") }}
	typing.Stdout, typing.Stderr = screen, screen
	if _, err := io.WriteString(input, "busybox ps\n"); err != nil {
		n.T.Fatal(err)
	}
	if err := typing.Run(); err != nil || !strings.Contains(screen.String(), appProcess) {
		n.T.Errorf("a shell: %v\n%s", err, screen)
	}
	if run := debug("--attach", "--image="+shellImage, "--target=web", "--profile=baseline", "--", shell, "ps"); run.Err != nil || !strings.Contains(run.Stdout, appProcess) {
		n.T.Errorf("a command: %v\n%s%s", run.Err, run.Stdout, run.Stderr)
	}
	for _, row := range []struct {
		name            string
		want, arguments []string
	}{
		{"an image that may not be pulled", []string{"error: waiting for container debugger-", "is not running: ErrImageNeverPull:"}, []string{"--image=localhost:1/none:1", "--image-pull-policy=Never"}},
		{"an image that cannot be pulled", []string{"error: waiting for container debugger-", "is not running: ImagePullBackOff: "}, []string{"--image=localhost:1/none:1", "--image-pull-policy=Always"}},
		{"a command that is not in the image", []string{"error: waiting for container debugger-", "is not running: RunContainerError: "}, []string{"--image=" + shellImage, "--", "/none"}},
	} {
		run := debug(append([]string{"--attach"}, row.arguments...)...)
		if run.Err == nil || !framework.ContainsAll(run.Stderr, row.want) {
			n.T.Errorf("%s: %v, want %q\n%s", row.name, run.Err, row.want, run.Stderr)
		}
	}
}

// screenOf has the output of a command. It calls seen when the output first contains the text.
type screenOf struct {
	strings.Builder
	text string
	seen func()
}

func (s *screenOf) Write(data []byte) (int, error) {
	written, err := s.Builder.Write(data)
	if s.seen != nil && strings.Contains(s.String(), s.text) {
		s.seen()
		s.seen = nil
	}
	return written, err
}
