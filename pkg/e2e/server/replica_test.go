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

// replica is one of several servers behind the APIService.
type replica struct {
	name string
	port int
	// credential marks its requests in the cluster's audit log.
	credential string
	arguments  []string
	// log and auditLog are files.
	dir, log, auditLog string
	process            *exec.Cmd
	ended              chan error
}

// newReplica returns a server with the flags of the first one, but for these, that reaches the cluster at the URL, or where all
// others do if it is empty. It is stopped when the test ends.
func newReplica(t *testing.T, p *framework.ControlPlane, name, clusterURL string, flags ...string) *replica {
	t.Helper()
	token, credential := issueServerToken(t, p)
	kubeconfig := writeServerKubeconfig(t, p, "replica-"+name, token, clusterURL)
	r := &replica{
		name: name, port: framework.FreePort(t), credential: credential, dir: filepath.Join(p.Dir, "modelbox"),
		log: filepath.Join(p.Dir, "logs", "replica-"+name+".log"), auditLog: filepath.Join(p.Dir, "logs", "replica-"+name+"-audit.log"),
	}
	// That of a former test is of another server.
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

// awaitReady returns when the server is ready.
func (r *replica) awaitReady(t *testing.T) {
	t.Helper()
	framework.Eventually(t, framework.Patience, "server "+r.name+" is ready", func() error { return r.isReady(t.Context()) })
}

// isReady probes the server as kubelet does, which does not verify it.
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

// restart returns when the server has ended and is ready again.
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

// terminate asks the server to end.
func (r *replica) terminate(t *testing.T) {
	t.Helper()
	if err := r.process.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatalf("stopping server %s: %v", r.name, err)
	}
}

// awaitEnd returns when the server has ended well.
func (r *replica) awaitEnd(t *testing.T, timeout time.Duration) {
	t.Helper()
	select {
	case err := <-r.ended:
		if err != nil {
			t.Errorf("server %s ended with: %v", r.name, err)
		}
	case <-time.After(timeout):
		t.Fatalf("server %s does not end", r.name)
	}
}

// kill returns when the server is gone, without a chance to say so.
func (r *replica) kill(t *testing.T) {
	t.Helper()
	if err := r.process.Process.Kill(); err != nil {
		t.Fatalf("killing server %s: %v", r.name, err)
	}
	<-r.ended
}

// sent tells the requests of this server in the cluster's audit log from those of the others.
func (r *replica) sent(request auditv1.Event) bool { return hasCredential(request, r.credential) }
