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

// OutsideEtcd are the flags of servers that share the etcd of their cluster. Its socket is named from the folder that
// they run in.
var OutsideEtcd = []string{"--data-dir=", "--etcd-servers=unix://../run/etcd.sock:1", "--etcd-prefix=/modelbox"}

// NewControlPlane starts a control plane of the test's own, with these flags of localcluster besides the usual ones. It
// is stopped when the test ends, and its logs are kept when the test has failed.
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
	return p
}

// ServerFlags are flags of localcluster that give the server these.
func ServerFlags(flags ...string) []string {
	var arguments []string
	for _, flag := range flags {
		arguments = append(arguments, "--server-arg="+flag)
	}
	return arguments
}

// LocalCluster is a control plane that this process started, and has to stop.
type LocalCluster struct {
	Dir        string
	Supervisor *exec.Cmd
	// Ended tells how the supervisor ended.
	Ended chan error
}

// StartLocalCluster starts a control plane in a directory of its own and returns when it is ready.
func StartLocalCluster(flags ...string) (*LocalCluster, error) {
	for _, name := range []string{"localcluster", "modelbox-apiserver", "kubectl"} {
		if _, err := os.Stat(Binary(name)); err != nil {
			return nil, fmt.Errorf("%s is missing: run make build first", Binary(name))
		}
	}
	// Not in TMPDIR, which may be long: the path of a socket may not.
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

// Stop ends the control plane and returns an error when it does not end well, or leaves a process behind.
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

// Logs is the directory of the logs.
func (c *LocalCluster) Logs() string { return filepath.Join(c.Dir, "logs") }

// Remove removes the files of a control plane that was stopped.
func (c *LocalCluster) Remove() error { return os.RemoveAll(c.Dir) }
