// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

// Package sandbox runs the programs of a container node in namespaces of their
// own. Nothing they mount, connect or start is seen by the machine, and with the
// last of them the kernel removes all of it.
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

// Namespaces are those that the sandbox must be started in, as clone takes them.
const Namespaces = syscall.CLONE_NEWNET | syscall.CLONE_NEWNS | syscall.CLONE_NEWPID

// What the programs of the node know things by.
const (
	// NodeName is what the node registers as.
	NodeName = "container-node"
	// Dir is the directory of the cluster.
	Dir              = "/run/localcluster"
	ContainerdSocket = "/run/containerd/containerd.sock"
	// Interface is the node's network interface. The process that starts the
	// sandbox adds it.
	Interface = "eth0"
)

// Run runs the node of the cluster in that directory until ctx ends or the
// process gets a signal to stop. It must be the first process of Namespaces, or
// a child of it.
func Run(ctx context.Context, directory workdir.Dir) error {
	if os.Getpid() == 1 {
		return runAsChild()
	}
	ctx, restoreSignals := signal.NotifyContext(ctx, syscall.SIGINT, syscall.SIGTERM)
	defer restoreSignals()

	// Before the mounts: the groups are found through the mounts of the
	// machine.
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
