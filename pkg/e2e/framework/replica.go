// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package framework

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
)

// Replica is one of several servers of the APIService.
type Replica struct {
	Name string
	// Port is the port number at which the server listens.
	Port int
	// Arguments are the program of the server and its flags. A change takes effect at the next start.
	Arguments []string
	// AuditLog is the file of the audit log.
	AuditLog string
	// Log is the file of the log.
	Log string

	// credential identifies its requests in the audit log of the cluster.
	credential string
	dir        string
	process    *exec.Cmd
	ended      chan error
}

// NewReplica returns a server with the flags of the first server, replaced by these flags. It connects to the cluster at the URL,
// or at the usual URL if it is empty. It is stopped at the end of the test.
func NewReplica(t *testing.T, p *ControlPlane, name, clusterURL string, flags ...string) *Replica {
	t.Helper()
	token, credential := issueServerToken(t, p)
	kubeconfig := writeServerKubeconfig(t, p, "replica-"+name, token, clusterURL)
	r := &Replica{
		Name: name, Port: FreePort(t), credential: credential, dir: filepath.Join(p.Dir, "modelbox"),
		Log: filepath.Join(p.Dir, "logs", "replica-"+name+".log"), AuditLog: filepath.Join(p.Dir, "logs", "replica-"+name+"-audit.log"),
	}
	// Remove the file of a former test.
	if err := os.RemoveAll(r.Log); err != nil {
		t.Fatal(err)
	}
	flags = append([]string{
		fmt.Sprintf("--secure-port=%d", r.Port),
		"--kubeconfig=" + kubeconfig, "--authentication-kubeconfig=" + kubeconfig, "--authorization-kubeconfig=" + kubeconfig,
		"--audit-log-path=" + r.AuditLog,
	}, flags...)
	r.Arguments = p.ServerCommand(t, flags...)
	t.Cleanup(func() {
		if r.process != nil && r.process.Process.Signal(syscall.SIGKILL) == nil {
			<-r.ended
		}
	})
	return r
}

// Address is the host and the port of the server.
func (r *Replica) Address() string { return fmt.Sprintf("127.0.0.1:%d", r.Port) }

// Start starts the process of the server.
func (r *Replica) Start(t *testing.T) {
	t.Helper()
	r.process = exec.Command(r.Arguments[0], r.Arguments[1:]...)
	r.process.Dir, r.process.Env = r.dir, append(os.Environ(), "POD_NAMESPACE="+ServerNamespace)
	var err error
	if r.ended, err = StartLoggedProcess(r.process, r.Log, syscall.SIGKILL); err != nil {
		t.Fatalf("starting server %s: %v", r.Name, err)
	}
}

// AwaitReady waits until the server is ready.
func (r *Replica) AwaitReady(t *testing.T) {
	t.Helper()
	Eventually(t, Patience, "server "+r.Name+" is ready", func() error { return r.IsReady(t.Context()) })
}

// IsReady probes the server like the kubelet, which does not verify its certificate.
func (r *Replica) IsReady(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, probeTimeout)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "https://"+r.Address()+"/readyz?verbose", nil)
	if err != nil {
		return err
	}
	_, err = Answer(prober, request)
	return err
}

var prober = &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, DisableKeepAlives: true}}

// Restart stops the server, starts it again, and waits until it is ready.
func (r *Replica) Restart(t *testing.T) {
	t.Helper()
	r.Stop(t)
	r.Start(t)
	r.AwaitReady(t)
}

// Stop stops the server, and waits until it has ended.
func (r *Replica) Stop(t *testing.T) {
	t.Helper()
	r.Terminate(t)
	r.AwaitEnd(t, Patience)
}

// Terminate sends SIGTERM to the server.
func (r *Replica) Terminate(t *testing.T) {
	t.Helper()
	r.Signal(t, syscall.SIGTERM)
}

// PID returns the process ID of the server, which must have started.
func (r *Replica) PID() int { return r.process.Process.Pid }

// Signal sends a signal to the server.
func (r *Replica) Signal(t *testing.T, signal syscall.Signal) {
	t.Helper()
	if err := r.process.Process.Signal(signal); err != nil {
		t.Fatalf("sending %s to server %s: %v", signal, r.Name, err)
	}
}

// AwaitEnd waits until the server has ended, and fails the test if it ended with an error.
func (r *Replica) AwaitEnd(t *testing.T, timeout time.Duration) {
	t.Helper()
	select {
	case err := <-r.ended:
		if err != nil {
			t.Errorf("server %s ended with: %v", r.Name, err)
		}
	case <-time.After(timeout):
		t.Fatalf("server %s did not end", r.Name)
	}
}

// Kill kills the server, and waits until it has ended.
func (r *Replica) Kill(t *testing.T) {
	t.Helper()
	if err := r.process.Process.Kill(); err != nil {
		t.Fatalf("killing server %s: %v", r.Name, err)
	}
	<-r.ended
}

// Sent returns whether this server sent a request in the audit log of the cluster.
func (r *Replica) Sent(request auditv1.Event) bool { return HasCredential(request, r.credential) }
