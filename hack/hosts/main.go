// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

// Command hosts is kube-apiserver, kube-controller-manager and kube-scheduler,
// unchanged, of the Kubernetes of the file of the module that it is built with.
package main

import (
	"fmt"
	"os"

	"github.com/spf13/cobra"
	"k8s.io/component-base/cli"
	kubeapiserver "k8s.io/kubernetes/cmd/kube-apiserver/app"
	kubecontrollermanager "k8s.io/kubernetes/cmd/kube-controller-manager/app"
	kubescheduler "k8s.io/kubernetes/cmd/kube-scheduler/app"

	// What the programs' own main packages register: JSON logs, client metrics, time
	// zones for CronJobs.
	_ "time/tzdata"

	_ "k8s.io/component-base/logs/json/register"
	_ "k8s.io/component-base/metrics/prometheus/clientgo"
	_ "k8s.io/component-base/metrics/prometheus/version"
)

// programs are functions: constructing two of the commands in one process panics.
var programs = map[string]func() *cobra.Command{
	"kube-apiserver":          kubeapiserver.NewAPIServerCommand,
	"kube-controller-manager": kubecontrollermanager.NewControllerManagerCommand,
	"kube-scheduler":          func() *cobra.Command { return kubescheduler.NewSchedulerCommand() },
}

func main() {
	if len(os.Args) > 1 {
		if program, found := programs[os.Args[1]]; found {
			os.Args = os.Args[1:]
			os.Exit(cli.Run(program()))
		}
	}
	fmt.Fprintf(os.Stderr, "usage: %s kube-apiserver|kube-controller-manager|kube-scheduler [flag...]\n", os.Args[0])
	os.Exit(2)
}
