// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

// Package sandbox runs the programs of a container node in separate namespaces. Their mounts, networks and processes are not
// visible on the machine. The kernel removes all of them with the last process.
package sandbox

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/sharelinuxs/modelbox-apiserver/hack/localcluster/cgroup"
	"github.com/sharelinuxs/modelbox-apiserver/hack/localcluster/supervisor"
	"github.com/sharelinuxs/modelbox-apiserver/hack/localcluster/workdir"
)

// Namespaces are the namespaces in which the sandbox must be started, as flags of clone.
const Namespaces = syscall.CLONE_NEWNET | syscall.CLONE_NEWNS | syscall.CLONE_NEWPID

// The names and paths of the node.
const (
	// NodeName is the name of the node.
	NodeName = "container-node"
	// Dir is the directory of the cluster.
	Dir              = "/run/localcluster"
	ContainerdSocket = "/run/containerd/containerd.sock"
	// Interface is the network interface of the node. The process that starts the sandbox adds it.
	Interface = "eth0"
)

// Run runs the node of the cluster in a directory until ctx is done or the process gets a signal to stop. The process must be the
// first process of Namespaces, or a child of it.
func Run(ctx context.Context, directory workdir.Dir) error {
	if os.Getpid() == 1 {
		return runAsChild()
	}
	ctx, restoreSignals := signal.NotifyContext(ctx, syscall.SIGINT, syscall.SIGTERM)
	defer restoreSignals()

	// Enter the cgroup before the mounts, because it is found through the mounts of the machine.
	if err := cgroup.Enter(directory.ID(), os.Getpid()); err != nil {
		return err
	}
	if err := mountOwn(string(directory)); err != nil {
		return err
	}
	if err := setUpNetwork(); err != nil {
		return err
	}
	address, err := awaitAddress(ctx)
	if err != nil {
		return err
	}
	announce := func(line string) { fmt.Fprintln(os.Stderr, line) }
	programs := supervisor.New(string(directory), Dir+"/logs", "/run", announce)
	defer programs.Stop()
	if err := start(ctx, programs, address); err != nil {
		if ctx.Err() != nil {
			return errors.New("told to stop before the node was ready")
		}
		return err
	}
	<-ctx.Done()
	return nil
}
