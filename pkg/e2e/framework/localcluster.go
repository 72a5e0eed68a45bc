// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package framework

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

const (
	startTimeout = 4 * time.Minute
	stopTimeout  = time.Minute
)

// ExternalEtcd has the flags of servers that use the etcd of their cluster. The path of its socket is relative to the working
// directory of the server.
var ExternalEtcd = []string{"--data-dir=", "--etcd-servers=unix://../run/etcd.sock:1", "--etcd-prefix=/modelbox"}

// NewControlPlane starts a separate control plane for a test, with additional flags of localcluster. It is stopped at the end of
// the test. If the test fails, its logs are kept.
func NewControlPlane(t *testing.T, flags ...string) *ControlPlane {
	t.Helper()
	cluster, err := StartLocalCluster(flags...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := cluster.Stop(); err != nil {
			t.Error(err)
		}
		if t.Failed() {
			t.Log("logs are kept in", cluster.Logs())
			return
		}
		if err := cluster.Remove(); err != nil {
			t.Error(err)
		}
	})
	p, err := Connect(cluster.Dir)
	if err != nil {
		t.Fatal(err)
	}
	p.isTemporary, p.test = true, t
	return p
}

// ServerFlags returns the flags of localcluster that set these flags of the server.
func ServerFlags(flags ...string) []string {
	var arguments []string
	for _, flag := range flags {
		arguments = append(arguments, "--server-arg="+flag)
	}
	return arguments
}

// LocalCluster is a control plane that this process has started. Call Stop.
type LocalCluster struct {
	Dir        string
	Supervisor *exec.Cmd
	// Ended receives the error of the supervisor when it ends.
	Ended chan error
}

// StartLocalCluster starts a control plane in a new directory and returns when it is ready.
func StartLocalCluster(flags ...string) (*LocalCluster, error) {
	for _, name := range []string{"localcluster", "modelbox-apiserver", "kubectl"} {
		if _, err := os.Stat(Binary(name)); err != nil {
			return nil, fmt.Errorf("%s is missing: run make build first", Binary(name))
		}
	}
	// Do not use TMPDIR, which may be too long for the path of a socket.
	dir, err := os.MkdirTemp("/tmp", "mb-e2e-")
	if err != nil {
		return nil, fmt.Errorf("creating the control plane's directory: %w", err)
	}
	supervisor := exec.Command(Binary("localcluster"), slices.Concat([]string{"run",
		"--dir=" + dir, "--server=" + Binary("modelbox-apiserver"), "--artifacts=" + InRepository("artifacts")}, hostFlags(), flags)...)
	supervisor.Stdout, supervisor.Stderr = os.Stdout, os.Stderr
	ended, err := StartProcess(supervisor, syscall.SIGTERM)
	if err != nil {
		return nil, fmt.Errorf("starting the control plane: %w", err)
	}
	cluster := &LocalCluster{Dir: dir, Supervisor: supervisor, Ended: ended}
	if err := cluster.awaitReady(); err != nil {
		return nil, errors.Join(err, cluster.Stop())
	}
	return cluster, nil
}

func (c *LocalCluster) awaitReady() error {
	deadline := time.After(startTimeout)
	for {
		content, err := os.ReadFile(filepath.Join(c.Dir, "run", "ready"))
		if err == nil && strings.TrimSpace(string(content)) == strconv.Itoa(c.Supervisor.Process.Pid) {
			return nil
		}
		select {
		case err := <-c.Ended:
			c.Ended <- err
			return fmt.Errorf("the control plane did not start: %w", err)
		case <-deadline:
			return fmt.Errorf("the control plane did not start within %s", startTimeout)
		case <-time.After(PollInterval):
		}
	}
}

// Stop stops the control plane. It returns an error if the control plane ends with an error or leaves a process behind.
func (c *LocalCluster) Stop() error {
	if err := c.Supervisor.Process.Signal(syscall.SIGTERM); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return fmt.Errorf("stopping the control plane: %w", err)
	}
	select {
	case err := <-c.Ended:
		if err != nil {
			return fmt.Errorf("the control plane did not end well: %w", err)
		}
	case <-time.After(stopTimeout):
		return errors.Join(fmt.Errorf("the control plane did not end within %s", stopTimeout), c.Supervisor.Process.Kill())
	}
	left, err := ProcessesMentioning(c.Dir)
	if err != nil {
		return err
	}
	if len(left) > 0 {
		return fmt.Errorf("the control plane left processes behind:\n%s", strings.Join(left, "\n"))
	}
	return nil
}

// Logs returns the directory of the logs.
func (c *LocalCluster) Logs() string { return filepath.Join(c.Dir, "logs") }

// Remove removes the files of a stopped control plane.
func (c *LocalCluster) Remove() error { return os.RemoveAll(c.Dir) }
