// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package containers

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/tools/remotecommand"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/e2e/framework"
)

const (
	// loadConfigurations reads configurations, each after a line with its size. It replaces the configuration of the proxy, and
	// prints loadedLine when no process of the proxy has the former configuration. Requests in progress use it to their end.
	loadConfigurations = `while read -r size; do
  former=$(pgrep -P "$(cat /run/nginx.pid)")
  head -c "${size}" >/etc/nginx/conf.d/next && mv /etc/nginx/conf.d/next /etc/nginx/conf.d/ingresses.conf
  /usr/sbin/nginx -s reload 2>&1 || { echo ` + failedLine + `; continue; }
  for worker in ${former}; do while kill -0 "${worker}" 2>/dev/null; do sleep 0.05; done; done
  echo ` + loadedLine + `
done`
	loadedLine = "loaded"
	failedLine = "failed"
)

// proxyShell is a shell in a proxy that loads configurations. There is one for all of them, because on a busy machine it takes seconds
// to start a process in a container.
type proxyShell struct {
	stdin  io.Writer
	output *bufio.Scanner
}

// startProxyShell starts a shell in the pod of the proxy. It ends with the test.
func startProxyShell(n *framework.Namespace, proxy string) (*proxyShell, error) {
	pods, err := n.LivePods(proxy)
	if err != nil {
		return nil, err
	}
	if len(pods) == 0 {
		return nil, errors.New("there is no pod of the proxy")
	}
	request := n.ControlPlane.KubeClient.CoreV1().RESTClient().Get().Namespace(n.Name).Resource("pods").Name(pods[0].Name).SubResource("exec").
		VersionedParams(&corev1.PodExecOptions{
			Command: []string{"/bin/busybox", "sh", "-c", loadConfigurations}, Stdin: true, Stdout: true, Stderr: true,
		}, scheme.ParameterCodec)
	executor, err := remotecommand.NewWebSocketExecutor(n.ControlPlane.Config, http.MethodGet, request.URL().String())
	if err != nil {
		return nil, err
	}
	input, stdin := io.Pipe()
	output, stdout := io.Pipe()
	go func() {
		err := executor.StreamWithContext(n.Ctx, remotecommand.StreamOptions{Stdin: input, Stdout: stdout, Stderr: stdout})
		err = fmt.Errorf("the shell in the proxy has ended: %w", err)
		input.CloseWithError(err)
		stdout.CloseWithError(err)
	}()
	return &proxyShell{stdin, bufio.NewScanner(output)}, nil
}

// load returns when the proxy serves by the configuration only.
func (s *proxyShell) load(configuration string) error {
	if _, err := fmt.Fprintf(s.stdin, "%d\n%s", len(configuration), configuration); err != nil {
		return err
	}
	var printed []string
	for s.output.Scan() {
		switch line := s.output.Text(); line {
		case loadedLine:
			return nil
		case failedLine:
			return fmt.Errorf("%s\n%s", strings.Join(printed, "\n"), configuration)
		default:
			printed = append(printed, line)
		}
	}
	return s.output.Err()
}
