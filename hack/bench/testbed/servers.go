// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package ground

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
	// idleShare is how much of a core all servers may use while nothing is asked of them.
	idleShare = 0.15
	// idleInterval is for how long.
	idleInterval = 200 * time.Millisecond
	// idleTimeout is how long to wait for that. There may be more to do than measuring has to wait for.
	idleTimeout = 10 * time.Second
)

// servers are the processes whose CPU counts: what a cluster needs for the API of boxes, and what looks at all objects of all
// APIs.
var servers = []string{etcd, KubeAPIServer, controllerManager, scheduler, APIServer}

// stores are the servers that keep objects, whose memory counts.
var stores = []string{etcd, KubeAPIServer, APIServer}

// PID returns the process of a server.
func (g *Ground) PID(name string) (int, error) {
	if pid, found := g.others[name]; found {
		return pid, nil
	}
	content, err := os.ReadFile(filepath.Join(g.Dir, "run", name+".pid"))
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
func (g *Ground) StartServer(name string, command *exec.Cmd) (<-chan error, error) {
	ended := make(chan error, 1)
	if err := startWithParent(command, ended); err != nil {
		return nil, err
	}
	g.others[name] = command.Process.Pid
	return ended, nil
}

// ForgetServer leaves out a program from now on.
func (g *Ground) ForgetServer(name string) { delete(g.others, name) }

// Usage returns what the servers have used so far.
func (g *Ground) Usage() (process.Usages, error) {
	return g.usage(slices.AppendSeq(slices.Clone(servers), maps.Keys(g.others)))
}

// StoreUsage is Usage of the servers that keep objects.
func (g *Ground) StoreUsage() (process.Usages, error) { return g.usage(stores) }

func (g *Ground) usage(names []string) (process.Usages, error) {
	usages := process.Usages{}
	for _, name := range names {
		pid, err := g.PID(name)
		if err != nil {
			return nil, err
		}
		if usages[name], err = process.Read(pid); err != nil {
			return nil, err
		}
	}
	return usages, nil
}

// ResetPeaks makes the memory that the servers have now their peaks.
func (g *Ground) ResetPeaks() error {
	for _, name := range stores {
		pid, err := g.PID(name)
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
func (g *Ground) AwaitIdle(ctx context.Context) error {
	before, err := g.Usage()
	if err != nil {
		return err
	}
	err = wait.PollUntilContextTimeout(ctx, idleInterval, idleTimeout, false, func(context.Context) (bool, error) {
		now, err := g.Usage()
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

// Settle waits until the servers are idle, has them collect their garbage, and waits again. So no measurement pays for the garbage
// of an earlier one.
func (g *Ground) Settle(ctx context.Context) error {
	if err := g.AwaitIdle(ctx); err != nil {
		return err
	}
	for _, name := range []string{KubeAPIServer, APIServer} {
		client, err := g.serverClient(name)
		if err != nil {
			return err
		}
		if _, err := client.Get().AbsPath("/debug/pprof/heap").Param("gc", "1").DoRaw(ctx); err != nil {
			return fmt.Errorf("collecting the garbage of %s: %w", name, err)
		}
	}
	return g.AwaitIdle(ctx)
}

// direct is the configuration of an administrator's clients of the server itself, for what is about its process.
func (g *Ground) direct() (*rest.Config, error) {
	pid, err := g.PID(APIServer)
	if err != nil {
		return nil, err
	}
	port, err := flagOf(pid, "secure-port")
	if err != nil {
		return nil, err
	}
	config := rest.CopyConfig(g.Admin)
	config.Host = "https://127.0.0.1:" + port
	config.CAData, config.CAFile = nil, filepath.Join(g.Dir, "modelbox", "ca.crt")
	return config, nil
}
