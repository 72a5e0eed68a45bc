// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package server

import (
	"context"
	"crypto/tls"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	auditv1 "k8s.io/apiserver/pkg/apis/audit/v1"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/e2e/framework"
)

// replica is one of several servers of the APIService.
type replica struct {
	name string
	port int
	// credential identifies its requests in the audit log of the cluster.
	credential string
	arguments  []string
	// log and auditLog are files.
	dir, log, auditLog string
	process            *exec.Cmd
	ended              chan error
}

// newReplica returns a server with the flags of the first server, replaced by these flags. It connects to the cluster at the URL,
// or at the usual URL if it is empty. It is stopped at the end of the test.
func newReplica(t *testing.T, p *framework.ControlPlane, name, clusterURL string, flags ...string) *replica {
	t.Helper()
	token, credential := issueServerToken(t, p)
	kubeconfig := writeServerKubeconfig(t, p, "replica-"+name, token, clusterURL)
	r := &replica{
		name: name, port: framework.FreePort(t), credential: credential, dir: filepath.Join(p.Dir, "modelbox"),
		log: filepath.Join(p.Dir, "logs", "replica-"+name+".log"), auditLog: filepath.Join(p.Dir, "logs", "replica-"+name+"-audit.log"),
	}
	// Remove the file of a former test.
	if err := os.RemoveAll(r.log); err != nil {
		t.Fatal(err)
	}
	flags = append([]string{
		fmt.Sprintf("--secure-port=%d", r.port),
		"--kubeconfig=" + kubeconfig, "--authentication-kubeconfig=" + kubeconfig, "--authorization-kubeconfig=" + kubeconfig,
		"--audit-log-path=" + r.auditLog,
	}, flags...)
	r.arguments = p.ServerCommand(t, flags...)
	t.Cleanup(func() {
		if r.process != nil && r.process.Process.Signal(syscall.SIGKILL) == nil {
			<-r.ended
		}
	})
	return r
}

func (r *replica) address() string { return fmt.Sprintf("127.0.0.1:%d", r.port) }

func (r *replica) start(t *testing.T) {
	t.Helper()
	r.process = exec.Command(r.arguments[0], r.arguments[1:]...)
	r.process.Dir, r.process.Env = r.dir, append(os.Environ(), "POD_NAMESPACE="+framework.ServerNamespace)
	var err error
	if r.ended, err = framework.StartLoggedProcess(r.process, r.log, syscall.SIGKILL); err != nil {
		t.Fatalf("starting server %s: %v", r.name, err)
	}
}

// awaitReady waits until the server is ready.
func (r *replica) awaitReady(t *testing.T) {
	t.Helper()
	framework.Eventually(t, framework.Patience, "server "+r.name+" is ready", func() error { return r.isReady(t.Context()) })
}

// isReady probes the server like the kubelet, which does not verify its certificate.
func (r *replica) isReady(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, probeTimeout)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "https://"+r.address()+"/readyz?verbose", nil)
	if err != nil {
		return err
	}
	_, err = framework.Answer(prober, request)
	return err
}

var prober = &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, DisableKeepAlives: true}}

// restart stops the server, starts it again, and waits until it is ready.
func (r *replica) restart(t *testing.T) {
	t.Helper()
	r.stop(t)
	r.start(t)
	r.awaitReady(t)
}

func (r *replica) stop(t *testing.T) {
	t.Helper()
	r.terminate(t)
	r.awaitEnd(t, framework.Patience)
}

// terminate sends SIGTERM to the server.
func (r *replica) terminate(t *testing.T) {
	t.Helper()
	if err := r.process.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatalf("stopping server %s: %v", r.name, err)
	}
}

// awaitEnd waits until the server has ended, and fails the test if it ended with an error.
func (r *replica) awaitEnd(t *testing.T, timeout time.Duration) {
	t.Helper()
	select {
	case err := <-r.ended:
		if err != nil {
			t.Errorf("server %s ended with: %v", r.name, err)
		}
	case <-time.After(timeout):
		t.Fatalf("server %s did not end", r.name)
	}
}

// kill kills the server, and waits until it has ended.
func (r *replica) kill(t *testing.T) {
	t.Helper()
	if err := r.process.Process.Kill(); err != nil {
		t.Fatalf("killing server %s: %v", r.name, err)
	}
	<-r.ended
}

// sent returns whether this server sent a request in the audit log of the cluster.
func (r *replica) sent(request auditv1.Event) bool { return hasCredential(request, r.credential) }
