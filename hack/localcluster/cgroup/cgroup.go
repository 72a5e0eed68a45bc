// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

// Package cgroup is the control group that everything on a container node belongs to.
package cgroup

import (
	"fmt"
	"path"

	"github.com/opencontainers/cgroups"
	"github.com/opencontainers/cgroups/manager"
)

// daemons are apart from the pods: in cgroup v2 a group with groups in it has no processes of its own.
const daemons = "daemons"

// Path is the absolute path of the group, as a kubelet takes it. cluster is what
// sets the cluster apart from others on the machine.
func Path(cluster string) string { return "/localcluster-" + cluster }

// Daemons is the path of the group of the programs that make up the node.
func Daemons(cluster string) string { return path.Join(Path(cluster), daemons) }

// Enter creates the group, in every hierarchy that there is, and moves a process to the daemons in it.
func Enter(cluster string, pid int) error {
	group, err := open(Daemons(cluster))
	if err != nil {
		return err
	}
	if err := group.Apply(pid); err != nil {
		return fmt.Errorf("entering the cgroup %s: %w", Daemons(cluster), err)
	}
	return nil
}

// Remove removes the group and all in it. That it is not there is no error, that a process is in it is one.
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
