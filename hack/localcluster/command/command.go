// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

// Package command is the command line of the local cluster.
package command

import (
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/sharelinuxs/modelbox-apiserver/hack/localcluster/component"
)

// New returns the root command.
func New() *cobra.Command {
	root := &cobra.Command{
		Use:   "localcluster",
		Short: "A Kubernetes control plane on this machine, from one binary",
		Long: `localcluster runs a real Kubernetes control plane on this machine: etcd,
kube-apiserver, controller manager and scheduler, with simulated nodes (KWOK)
whose pods become ready without containers, or with --container-node one whose
pods really run. With --server it also installs and runs modelbox-apiserver in
it, from the manifests that a real cluster would get.

It needs no root, no container engine and no network. All it writes is in --dir,
all it listens on is 127.0.0.1, and it neither reads nor writes $KUBECONFIG.

A container node needs Linux, root, and what check says. Its kubelet, containerd
and kube-proxy have network, mounts and processes of their own: the machine sees
one more network interface, from 198.18.0.0/15, and a cgroup.

Each program of the cluster can also be run alone, by name:
  localcluster (` + strings.Join(component.Names(), "|") + `) ...
or through a link of that name.`,
		SilenceUsage:  true,
		SilenceErrors: true,
	}
	// Kubernetes packages register flags for their programs there. cobra would show them as flags of this program.
	pflag.CommandLine = pflag.NewFlagSet(root.Name(), pflag.ContinueOnError)
	root.CompletionOptions.DisableDefaultCmd = true
	root.AddCommand(newRunCommand(), newUpCommand(), newDownCommand(), newLoadCommand(), newCheckCommand())
	return root
}
