// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

// Command containernode runs the programs of a container node, two of which it has: the unchanged kubelet and kube-proxy. It is a
// separate program, because a cluster with simulated nodes does not need their packages.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"

	"github.com/spf13/cobra"
	"k8s.io/component-base/cli"
	kubeproxy "k8s.io/kubernetes/cmd/kube-proxy/app"
	kubelet "k8s.io/kubernetes/cmd/kubelet/app"

	"github.com/sharelinuxs/modelbox-apiserver/hack/localcluster/program"
	"github.com/sharelinuxs/modelbox-apiserver/hack/localcluster/sandbox"
	"github.com/sharelinuxs/modelbox-apiserver/hack/localcluster/workdir"

	// The imports of the main packages of the programs: JSON logs and client metrics.
	_ "k8s.io/component-base/logs/json/register"
	_ "k8s.io/component-base/metrics/prometheus/clientgo"
	_ "k8s.io/component-base/metrics/prometheus/version"
)

// programs are functions and not commands, because each constructor installs the only signal handler of the process.
var programs = map[string]func() *cobra.Command{
	program.Kubelet:   func() *cobra.Command { return kubelet.NewKubeletCommand(context.Background()) },
	program.KubeProxy: kubeproxy.NewProxyCommand,
}

func main() {
	if len(os.Args) > 1 {
		if command, found := programs[os.Args[1]]; found {
			os.Args = os.Args[1:]
			os.Exit(cli.Run(command()))
		}
	}
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "Error:", err)
		os.Exit(1)
	}
}

// run runs the node of the cluster in the directory that the arguments name. The sandbox runs this program for each of programs.
func run(arguments []string) error {
	flags := flag.NewFlagSet(program.ContainerNode, flag.ExitOnError)
	path := flags.String("dir", "", "the directory of the cluster")
	if err := flags.Parse(arguments); err != nil {
		return err
	}
	dir, err := workdir.New(*path)
	if err != nil {
		return err
	}
	return sandbox.Run(context.Background(), dir)
}
