// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

// Package cgroup manages the cgroup of a container node.
package cgroup

import (
	"fmt"
	"path"

	"github.com/opencontainers/cgroups"
	"github.com/opencontainers/cgroups/manager"
)

// daemons is the cgroup of the programs of the node. It is separate from the pods, because in cgroup v2 a cgroup with children has
// no processes.
const daemons = "daemons"

// The node gets as much of busy processors as ten processes outside of it get. With the default, the share of one process, its
// containers would hardly run on a machine that also builds programs.
const (
	cpuWeight = 1000      // cgroup v2: 100 is the default.
	cpuShares = 10 * 1024 // cgroup v1: 1,024 is the default.
)

// Path returns the absolute path of the cgroup for the kubelet. cluster is unique to the cluster on the machine.
func Path(cluster string) string { return "/localcluster-" + cluster }

// Daemons returns the path of the cgroup of the programs of the node.
func Daemons(cluster string) string { return path.Join(Path(cluster), daemons) }

// Enter creates the cgroup in every hierarchy, sets its share of the processors, and moves a process to its cgroup of daemons.
func Enter(cluster string, pid int) error {
	group, err := open(Daemons(cluster))
	if err != nil {
		return err
	}
	if err := group.Apply(pid); err != nil {
		return fmt.Errorf("entering the cgroup %s: %w", Daemons(cluster), err)
	}
	node, err := open(Path(cluster))
	if err != nil {
		return err
	}
	if err := node.Set(&cgroups.Resources{SkipDevices: true, CpuWeight: cpuWeight, CpuShares: cpuShares}); err != nil {
		return fmt.Errorf("setting the share of the processors of the cgroup %s: %w", Path(cluster), err)
	}
	return nil
}

// Remove removes the cgroup and its children. It returns an error if a cgroup has a process, and no error if the cgroup does not
// exist.
func Remove(cluster string) error {
	group, err := open(Path(cluster))
	if err != nil {
		return err
	}
	if err := group.Destroy(); err != nil {
		return fmt.Errorf("removing the cgroup %s: %w", Path(cluster), err)
	}
	return nil
}

func open(path string) (cgroups.Manager, error) {
	group, err := manager.New(&cgroups.Cgroup{Path: path, Resources: &cgroups.Resources{SkipDevices: true}})
	if err != nil {
		return nil, fmt.Errorf("finding the cgroup %s: %w", path, err)
	}
	return group, nil
}
