// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package server

import (
	"bytes"
	"context"
	"fmt"
	"os/exec"
	"syscall"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/e2e/framework"
)

// longestShutdown is the time limit for a shutdown. A server that closes its watches takes 5 seconds on an idle machine. A server
// that waits for them would take a minute.
const longestShutdown = 30 * time.Second

// TestTerminatedServerEndsSoon sends SIGTERM while watches are open. It is not parallel, because all tests share the server.
func TestTerminatedServerEndsSoon(t *testing.T) {
	n := framework.NewNamespace(t)
	before := n.CreateReadyBox(framework.NewBox("web"))
	deployment := n.AwaitDeployment("web", "is settled", framework.CheckRolledOut)
	for range 5 {
		openWatch(n)
	}
	terminated := n.ControlPlane.ServerPID(t)
	took := n.ControlPlane.SignalServer(t, syscall.SIGTERM)
	t.Logf("the server ended %s after SIGTERM", took.Round(time.Millisecond))
	if took > longestShutdown {
		t.Errorf("the server took %s to end, want at most %s", took, longestShutdown)
	}

	n.AwaitServerRestart(terminated)
	framework.ExpectEqual(t, "UID of the box", before.UID, n.GetBox("web").UID)
	n.UpdateBox("web", func(spec *modelv1.ModelBoxSpec) { spec.Args = []string{"--verbose"} })
	n.AwaitReady("web")
	framework.ExpectEqual(t, "UID of the Deployment", deployment.UID, n.GetDeployment("web").UID)
}

// openWatch opens a watch that the client does not close.
func openWatch(n *framework.Namespace) {
	n.T.Helper()
	w, err := n.Boxes.Watch(n.Ctx, metav1.ListOptions{})
	if err != nil {
		n.T.Fatal(err)
	}
	n.T.Cleanup(w.Stop)
	select {
	case event := <-w.ResultChan():
		framework.ExpectEqual(n.T, "first event of a watch", watch.Added, event.Type)
	case <-time.After(framework.Patience):
		n.T.Fatal("the watch has no events")
	}
}

// TestDataDirectoryIsUsedByOneServer starts a second server on the data directory of the first one.
func TestDataDirectoryIsUsedByOneServer(t *testing.T) {
	n := framework.NewNamespace(t)
	n.CreateReadyBox(framework.NewBox("web"))
	first := n.ControlPlane.ServerPID(t)

	ctx, cancel := context.WithTimeout(n.Ctx, framework.Patience)
	defer cancel()
	output, err := secondServer(ctx, t, first).CombinedOutput()
	if err == nil || ctx.Err() != nil {
		t.Fatalf("a second server was not refused immediately: %v\n%s", err, output)
	}
	if !bytes.Contains(output, []byte("in use by another process")) {
		t.Errorf("the output does not say that the directory is in use:\n%s", output)
	}

	framework.ExpectEqual(t, "process of the server", first, n.ControlPlane.ServerPID(t))
	n.UpdateBox("web", framework.WithImage(framework.NewImage))
	n.AwaitReady("web")
}

// secondServer returns a second process with the arguments of the running server and another port.
func secondServer(ctx context.Context, t *testing.T, first int) *exec.Cmd {
	t.Helper()
	arguments := append(framework.CommandLine(t, first), fmt.Sprintf("--secure-port=%d", framework.FreePort(t)), "--audit-log-path=-")
	return exec.CommandContext(ctx, arguments[0], arguments[1:]...)
}
