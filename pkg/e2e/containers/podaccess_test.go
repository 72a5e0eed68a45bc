// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package containers

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/portforward"
	"k8s.io/client-go/tools/remotecommand"
	"k8s.io/client-go/transport/spdy"
	utilexec "k8s.io/client-go/util/exec"
	"k8s.io/streaming/pkg/httpstream"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/e2e/framework"
)

const (
	// sessions is the number of concurrent sessions of a subresource.
	sessions = 50
	// sessionBytes is the number of bytes that each session sends and receives.
	sessionBytes = 1 << 20
	// spare is the allowed difference of goroutines and open files.
	spare = 20
)

// podAccessLeadsToPods connects to pods by the names of their boxes, through the aggregation layer.
func podAccessLeadsToPods(n *framework.Namespace) {
	n.ControlPlane.GrantPodAccess(n.T)
	n.CreateReadyBox(newAppBox("web", func(spec *modelv1.ModelBoxSpec) {
		spec.Containers = []corev1.Container{{Name: "echo", Image: appImage, Args: []string{"copy"}, Stdin: true}}
	}))
	for _, protocol := range framework.StreamProtocols {
		n.T.Run("exec passes on streams and the exit code by "+protocol, func(t *testing.T) { execPassesOn(n.In(t), protocol) })
		n.T.Run("attach is connected to what runs by "+protocol, func(t *testing.T) { attachIsConnected(n.In(t), protocol) })
		n.T.Run("many users at once leave nothing behind by "+protocol, func(t *testing.T) { manySessions(n.In(t), protocol) })
		n.T.Run("port-forward leads to a port by "+protocol, func(t *testing.T) { portForwardLeads(n.In(t), protocol) })
	}
}

func execPassesOn(n *framework.Namespace, protocol string) {
	config := n.ControlPlane.Config
	var stdout, stderr bytes.Buffer
	input := randomText(sessionBytes)
	err := n.Stream(n.Ctx, config, protocol, "web", "exec", &modelv1.ModelBoxExecOptions{Command: []string{"/testapp", "copy"}, Stdin: true, Stdout: true, Stderr: true},
		remotecommand.StreamOptions{Stdin: strings.NewReader(input), Stdout: &stdout, Stderr: &stderr})
	if err != nil || stdout.String() != input || stderr.String() != "" {
		n.T.Errorf("got %d bytes of %d, stderr %q, %v", stdout.Len(), len(input), stderr.String(), err)
	}
	for _, code := range []int{0, 1, 42} {
		err := n.Stream(n.Ctx, config, protocol, "web", "exec", &modelv1.ModelBoxExecOptions{Command: []string{"/testapp", "exit", fmt.Sprint(code)}, Stdout: true, Stderr: true},
			remotecommand.StreamOptions{Stdout: &bytes.Buffer{}, Stderr: &bytes.Buffer{}})
		var exit utilexec.ExitError
		if code == 0 && err == nil || errors.As(err, &exit) && exit.ExitStatus() == code {
			continue
		}
		n.T.Errorf("exit code %d: %v", code, err)
	}
}

// attachIsConnected attaches to a container that echoes its input.
func attachIsConnected(n *framework.Namespace, protocol string) {
	ctx, cancel := context.WithTimeout(n.Ctx, framework.Patience)
	defer cancel()
	fromUser, toContainer := io.Pipe()
	fromContainer, toUser := io.Pipe()
	ended := make(chan error, 1)
	go func() {
		ended <- n.Stream(ctx, n.ControlPlane.Config, protocol, "web", "attach", &modelv1.ModelBoxAttachOptions{Container: "echo", Stdin: true, Stdout: true},
			remotecommand.StreamOptions{Stdin: fromUser, Stdout: toUser})
		toUser.CloseWithError(errors.New("the stream has ended"))
	}()
	line := randomText(100) + "\n"
	go func() { _, _ = io.WriteString(toContainer, line) }()
	got := make([]byte, len(line))
	if _, err := io.ReadFull(fromContainer, got); err != nil || string(got) != line {
		n.T.Errorf("got %q, %v, want %q", got, err, line)
	}
	cancel()
	<-ended
}

// manySessions runs 50 sessions that echo their input. Then half of them end with their input, and the connections of the other
// half are closed. The server must have as many goroutines and open files as before.
func manySessions(n *framework.Namespace, protocol string) {
	goroutines, files := serverCosts(n)
	input := randomText(sessionBytes)
	killed, kill := context.WithCancel(n.Ctx)
	defer kill()
	var all, echoing sync.WaitGroup
	var closing []io.Closer
	for session := range sessions {
		ctx := n.Ctx
		if session%2 == 0 {
			ctx = killed
		}
		more, end := io.Pipe()
		closing = append(closing, end)
		echo := &awaitedBytes{missing: len(input)}
		echoing.Add(1)
		echo.complete = echoing.Done
		all.Go(func() {
			err := n.Stream(ctx, n.ControlPlane.Config, protocol, "web", "exec", &modelv1.ModelBoxExecOptions{Command: []string{"/testapp", "copy"}, Stdin: true, Stdout: true},
				remotecommand.StreamOptions{Stdin: io.MultiReader(strings.NewReader(input), more), Stdout: echo})
			more.Close()
			if err != nil && killed.Err() == nil {
				n.T.Errorf("session %d: %v", session, err)
			}
			if !echo.isComplete() {
				n.T.Errorf("session %d: it got %d bytes less than it sent: %v", session, echo.missing, err)
				echoing.Done()
			}
		})
	}
	echoing.Wait()
	busyGoroutines, busyFiles := serverCosts(n)
	n.T.Logf("%d sessions: %.0f goroutines and %.0f open files, before %.0f and %.0f", sessions, busyGoroutines, busyFiles, goroutines, files)
	if busyFiles < files+2*sessions-spare {
		n.T.Errorf("%d sessions have %.0f connections", sessions, busyFiles-files)
	}
	for session, end := range closing {
		if session%2 == 1 {
			end.Close()
		}
	}
	kill()
	all.Wait()
	n.Eventually("the server has as many goroutines and open files as before", func() error {
		nowGoroutines, nowFiles := serverCosts(n)
		if nowGoroutines > goroutines+spare || nowFiles > files+spare {
			return fmt.Errorf("it has %.0f goroutines and %.0f files, before %.0f and %.0f", nowGoroutines, nowFiles, goroutines, files)
		}
		return nil
	})
}

// serverCosts returns the number of goroutines and open files of the server.
func serverCosts(n *framework.Namespace) (goroutines, files float64) {
	n.T.Helper()
	metrics := framework.Scrape(n.T, n.ControlPlane.DirectClient(n.T))
	return framework.Sum(metrics, "go_goroutines", nil), framework.Sum(metrics, "process_open_fds", nil)
}

// awaitedBytes is a writer with a channel that is closed after a number of bytes.
type awaitedBytes struct {
	mu       sync.Mutex
	missing  int
	complete func()
}

func (w *awaitedBytes) Write(data []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if before := w.missing; before > 0 {
		if w.missing -= len(data); w.missing <= 0 {
			w.complete()
		}
	}
	return len(data), nil
}

func (w *awaitedBytes) isComplete() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.missing <= 0
}

// portForwardLeads sends a request to the application through a forwarded port.
func portForwardLeads(n *framework.Namespace, protocol string) {
	config := n.ControlPlane.Config
	location, err := n.StreamURL(config, "web", "portforward", &modelv1.ModelBoxPortForwardOptions{})
	if err != nil {
		n.T.Fatal(err)
	}
	var dialer httpstream.Dialer
	if protocol == "WebSocket" {
		dialer, err = portforward.NewSPDYOverWebsocketDialerForStreaming(location, config)
	} else {
		var transport http.RoundTripper
		var upgrader spdy.Upgrader
		transport, upgrader, err = spdy.RoundTripperFor(config)
		dialer = spdy.NewDialerForStreaming(upgrader, &http.Client{Transport: transport}, http.MethodPost, location)
	}
	if err != nil {
		n.T.Fatal(err)
	}
	ready := make(chan struct{})
	forwarder, err := portforward.NewForStreaming(dialer, []string{":80"}, n.Ctx.Done(), ready, io.Discard, io.Discard)
	if err != nil {
		n.T.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- forwarder.ForwardPorts() }()
	defer forwarder.Close()
	select {
	case <-ready:
	case err := <-ended:
		n.T.Fatalf("forwarding: %v", err)
	}
	ports, err := forwarder.GetPorts()
	if err != nil {
		n.T.Fatal(err)
	}
	var asking sync.WaitGroup
	for range sessions {
		asking.Go(func() {
			client := &http.Client{Timeout: framework.Patience}
			request, err := http.NewRequestWithContext(n.Ctx, http.MethodGet, fmt.Sprintf("http://127.0.0.1:%d/", ports[0].Local), nil)
			if err != nil {
				n.T.Error(err)
				return
			}
			if answer, err := framework.Answer(client, request); err != nil || !strings.Contains(answer, "version 1") {
				n.T.Errorf("got %q, %v", answer, err)
			}
		})
	}
	asking.Wait()
}

func randomText(size int) string {
	text := make([]byte, size/2)
	_, _ = rand.Read(text)
	return hex.EncodeToString(text)
}
