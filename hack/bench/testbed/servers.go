// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package testbed

import (
	"context"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/rest"

	"github.com/sharelinuxs/modelbox-apiserver/hack/bench/process"
)

const (
	// idleShare is the largest share of a core that all servers together use while they are idle.
	idleShare = 0.15
	// idleInterval is the interval in which idleShare is measured.
	idleInterval = 200 * time.Millisecond
	// idleTimeout is the timeout for the servers to become idle. After it, the measurement continues.
	idleTimeout = 10 * time.Second
)

// servers are the processes whose CPU time is measured: the processes for the API of boxes, and the processes that watch all
// objects of all APIs.
var servers = []string{etcd, KubeAPIServer, controllerManager, scheduler, APIServer}

// stores are the servers that store objects. Their memory is measured.
var stores = []string{etcd, KubeAPIServer, APIServer}

// PID returns the ID of the process of a server.
func (bed *Testbed) PID(name string) (int, error) {
	if pid, found := bed.others[name]; found {
		return pid, nil
	}
	content, err := os.ReadFile(filepath.Join(bed.Dir, "run", name+".pid"))
	if err != nil {
		return 0, fmt.Errorf("finding the process of %s: %w", name, err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(content)))
	if err != nil {
		return 0, fmt.Errorf("reading the process of %s: %w", name, err)
	}
	return pid, nil
}

// StartServer starts a program whose CPU time counts as time of the servers until it is forgotten. The program is stopped when this
// process ends. The channel receives how it ended.
func (bed *Testbed) StartServer(name string, command *exec.Cmd) (<-chan error, error) {
	ended := make(chan error, 1)
	if err := startWithParent(command, ended); err != nil {
		return nil, err
	}
	bed.others[name] = command.Process.Pid
	return ended, nil
}

// ForgetServer leaves out a program from now on.
func (bed *Testbed) ForgetServer(name string) { delete(bed.others, name) }

// Usage returns the usage of the servers so far.
func (bed *Testbed) Usage() (process.Usages, error) {
	return bed.usage(slices.AppendSeq(slices.Clone(servers), maps.Keys(bed.others)))
}

// StoreUsage returns the usage of the servers that store objects.
func (bed *Testbed) StoreUsage() (process.Usages, error) { return bed.usage(stores) }

func (bed *Testbed) usage(names []string) (process.Usages, error) {
	usages := process.Usages{}
	for _, name := range names {
		pid, err := bed.PID(name)
		if err != nil {
			return nil, err
		}
		if usages[name], err = process.Read(pid); err != nil {
			return nil, err
		}
	}
	return usages, nil
}

// ResetPeaks resets the peak memory of the servers to their current memory.
func (bed *Testbed) ResetPeaks() error {
	for _, name := range stores {
		pid, err := bed.PID(name)
		if err != nil {
			return err
		}
		if err := process.ResetPeak(pid); err != nil {
			return err
		}
	}
	return nil
}

// AwaitIdle waits until the servers have finished the work of earlier requests: they send events and fill caches after the answer.
func (bed *Testbed) AwaitIdle(ctx context.Context) error {
	before, err := bed.Usage()
	if err != nil {
		return err
	}
	err = wait.PollUntilContextTimeout(ctx, idleInterval, idleTimeout, false, func(context.Context) (bool, error) {
		now, err := bed.Usage()
		if err != nil {
			return false, err
		}
		used := 0.0
		for _, seconds := range now.CPUSince(before) {
			used += seconds
		}
		before = now
		return used < idleShare*idleInterval.Seconds(), nil
	})
	if wait.Interrupted(err) && ctx.Err() == nil {
		return nil
	}
	return err
}

// Settle waits until the servers are idle, runs their garbage collection, and waits again, so that no measurement includes the
// garbage of an earlier one.
func (bed *Testbed) Settle(ctx context.Context) error {
	if err := bed.AwaitIdle(ctx); err != nil {
		return err
	}
	for _, name := range []string{KubeAPIServer, APIServer} {
		client, err := bed.serverClient(name)
		if err != nil {
			return err
		}
		if _, err := client.Get().AbsPath("/debug/pprof/heap").Param("gc", "1").DoRaw(ctx); err != nil {
			return fmt.Errorf("collecting the garbage of %s: %w", name, err)
		}
	}
	return bed.AwaitIdle(ctx)
}

// direct returns the configuration of clients of the administrator with a direct connection to the server.
func (bed *Testbed) direct() (*rest.Config, error) {
	pid, err := bed.PID(APIServer)
	if err != nil {
		return nil, err
	}
	port, err := flagOf(pid, "secure-port")
	if err != nil {
		return nil, err
	}
	config := rest.CopyConfig(bed.Admin)
	config.Host = "https://127.0.0.1:" + port
	config.CAData, config.CAFile = nil, filepath.Join(bed.Dir, "modelbox", "ca.crt")
	return config, nil
}
