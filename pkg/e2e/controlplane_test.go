// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/generated/clientset/versioned"
)

const (
	startTimeout = 4 * time.Minute
	stopTimeout  = time.Minute
)

// controlPlane is a running cluster that serves boxes, as its administrator sees it.
type controlPlane struct {
	dir    string
	config *rest.Config
	kube   kubernetes.Interface
	boxes  versioned.Interface
}

// connect returns the control plane that runs in a directory.
func connect(dir string) (*controlPlane, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, fmt.Errorf("resolving %s: %w", dir, err)
	}
	p := &controlPlane{dir: dir}
	if p.config, err = clientcmd.BuildConfigFromFlags("", p.kubeconfig()); err != nil {
		return nil, fmt.Errorf("reading the administrator's kubeconfig: %w", err)
	}
	p.config.QPS = -1 // the server sets the limits
	p.config.WarningHandler = rest.NoWarnings{}
	if p.kube, err = kubernetes.NewForConfig(p.config); err != nil {
		return nil, fmt.Errorf("creating the cluster's client: %w", err)
	}
	if p.boxes, err = versioned.NewForConfig(p.config); err != nil {
		return nil, fmt.Errorf("creating the client for boxes: %w", err)
	}
	return p, nil
}

func (p *controlPlane) kubeconfig() string { return filepath.Join(p.dir, "kubeconfig") }

// pidFile names the process of a part of the control plane. The supervisor writes it anew at every start.
func (p *controlPlane) pidFile(process string) string {
	return filepath.Join(p.dir, "run", process+".pid")
}

// clusterAuditLog holds what the server asked of the cluster, serverAuditLog every write it was asked for.
func (p *controlPlane) clusterAuditLog() string { return filepath.Join(p.dir, "logs", "audit.log") }
func (p *controlPlane) serverAuditLog() string {
	return filepath.Join(p.dir, "logs", "modelbox-audit.log")
}

// newControlPlane starts a control plane of the test's own, with these flags of localcluster besides the usual ones.
func newControlPlane(t *testing.T, flags ...string) *controlPlane {
	t.Helper()
	owned, err := startControlPlane(flags...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := owned.stop(); err != nil {
			t.Error(err)
		}
		if t.Failed() {
			t.Log("logs are kept in", owned.logs())
			return
		}
		if err := owned.remove(); err != nil {
			t.Error(err)
		}
	})
	p, err := connect(owned.dir)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// serverFlags are flags of localcluster that give the server these.
func serverFlags(flags ...string) []string {
	var arguments []string
	for _, flag := range flags {
		arguments = append(arguments, "--server-arg="+flag)
	}
	return arguments
}

// ownedControlPlane is one that the tests started, and have to stop.
type ownedControlPlane struct {
	dir        string
	supervisor *exec.Cmd
	ended      chan error
}

func startControlPlane(flags ...string) (*ownedControlPlane, error) {
	for _, name := range []string{"localcluster", "modelbox-apiserver", "kubectl"} {
		if _, err := os.Stat(binary(name)); err != nil {
			return nil, fmt.Errorf("%s is missing: run make build first", binary(name))
		}
	}
	// Not in TMPDIR, which may be long: the path of a socket may not.
	dir, err := os.MkdirTemp("/tmp", "mb-e2e-")
	if err != nil {
		return nil, fmt.Errorf("creating the control plane's directory: %w", err)
	}
	supervisor := exec.Command(binary("localcluster"), append([]string{"run",
		"--dir=" + dir, "--server=" + binary("modelbox-apiserver"), "--artifacts=" + inRepository("artifacts")}, flags...)...)
	supervisor.Stdout, supervisor.Stderr = os.Stdout, os.Stderr
	ended, err := startProcess(supervisor, syscall.SIGTERM)
	if err != nil {
		return nil, fmt.Errorf("starting the control plane: %w", err)
	}
	owned := &ownedControlPlane{dir: dir, supervisor: supervisor, ended: ended}
	if err := owned.awaitReady(); err != nil {
		return nil, errors.Join(err, owned.stop())
	}
	return owned, nil
}

func (o *ownedControlPlane) awaitReady() error {
	deadline := time.After(startTimeout)
	for {
		content, err := os.ReadFile(filepath.Join(o.dir, "run", "ready"))
		if err == nil && strings.TrimSpace(string(content)) == strconv.Itoa(o.supervisor.Process.Pid) {
			return nil
		}
		select {
		case err := <-o.ended:
			o.ended <- err
			return fmt.Errorf("the control plane did not start: %w", err)
		case <-deadline:
			return fmt.Errorf("the control plane did not start within %s", startTimeout)
		case <-time.After(pollInterval):
		}
	}
}

// stop ends the control plane and returns an error when it does not end well, or leaves a process behind.
func (o *ownedControlPlane) stop() error {
	if err := o.supervisor.Process.Signal(syscall.SIGTERM); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return fmt.Errorf("stopping the control plane: %w", err)
	}
	select {
	case err := <-o.ended:
		if err != nil {
			return fmt.Errorf("the control plane did not end well: %w", err)
		}
	case <-time.After(stopTimeout):
		return errors.Join(fmt.Errorf("the control plane did not end within %s", stopTimeout), o.supervisor.Process.Kill())
	}
	left, err := processesMentioning(o.dir)
	if err != nil {
		return err
	}
	if len(left) > 0 {
		return fmt.Errorf("the control plane left processes behind:\n%s", strings.Join(left, "\n"))
	}
	return nil
}

func (o *ownedControlPlane) logs() string { return filepath.Join(o.dir, "logs") }

// remove removes the files of a control plane that was stopped.
func (o *ownedControlPlane) remove() error { return os.RemoveAll(o.dir) }

// binary is the path of a program that "make build" builds.
func binary(name string) string { return inRepository("_output", "bin", name) }

// inRepository is the path of a file of the repository. Tests run in the directory of their package.
func inRepository(elements ...string) string {
	path, err := filepath.Abs(filepath.Join(append([]string{"..", ".."}, elements...)...))
	if err != nil {
		panic(err) // there is no working directory any more
	}
	return path
}
