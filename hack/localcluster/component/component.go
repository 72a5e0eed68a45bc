// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

// Package component has the unchanged programs of a cluster with simulated nodes as functions of one binary.
package component

import (
	"maps"
	"os"
	"slices"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"go.etcd.io/etcd/server/v3/etcdmain"
	"k8s.io/component-base/cli"
	kubeapiserver "k8s.io/kubernetes/cmd/kube-apiserver/app"
	kubecontrollermanager "k8s.io/kubernetes/cmd/kube-controller-manager/app"
	kubescheduler "k8s.io/kubernetes/cmd/kube-scheduler/app"
	kwokconfig "sigs.k8s.io/kwok/pkg/config"
	kwok "sigs.k8s.io/kwok/pkg/kwok/cmd"
	kwoklog "sigs.k8s.io/kwok/pkg/log"
	kwoksignals "sigs.k8s.io/kwok/pkg/utils/signals"

	"github.com/sharelinuxs/modelbox-apiserver/hack/localcluster/program"

	// The imports of the main packages of the programs: JSON logs, client metrics, and time zones for CronJobs.
	_ "time/tzdata"

	_ "k8s.io/component-base/logs/json/register"
	_ "k8s.io/component-base/metrics/prometheus/clientgo"
	_ "k8s.io/component-base/metrics/prometheus/version"
)

// programs are functions and not commands, because several constructors install the only signal handler of the process, and a
// second one panics. Only the requested command is constructed.
var programs = map[string]func(){
	program.Etcd:              func() { etcdmain.Main(os.Args) },
	program.APIServer:         func() { runCobra(kubeapiserver.NewAPIServerCommand()) },
	program.ControllerManager: func() { runCobra(kubecontrollermanager.NewControllerManagerCommand()) },
	program.Scheduler:         func() { runCobra(kubescheduler.NewSchedulerCommand()) },
	program.Kwok:              runKwok,
}

// Named returns the program with the name. Like its main function, the program reads os.Args, with its name as the first argument.
// Most programs exit the process themselves.
func Named(name string) (run func(), found bool) {
	run, found = programs[name]
	return run, found
}

// Names of all programs, sorted.
func Names() []string {
	return slices.Sorted(maps.Keys(programs))
}

func runCobra(command *cobra.Command) {
	os.Exit(cli.Run(command))
}

func runKwok() {
	// The command adds all registered flags to its flags, but the version flag of Kubernetes has another type than the version flag
	// of cobra.
	pflag.CommandLine = pflag.NewFlagSet(program.Kwok, pflag.ContinueOnError)

	flags := pflag.NewFlagSet("global", pflag.ContinueOnError)
	flags.ParseErrorsAllowlist.UnknownFlags = true
	flags.Usage = func() {}

	ctx := kwoksignals.SetupSignalContext()
	ctx, logger := kwoklog.InitFlags(ctx, flags)
	ctx, err := kwokconfig.InitFlags(ctx, flags)
	if err != nil {
		logger.Error("Init config flags", "err", err)
		os.Exit(1)
	}
	command := kwok.NewCommand(ctx)
	command.PersistentFlags().AddFlagSet(flags)
	if err := command.ExecuteContext(ctx); err != nil {
		logger.Error("Execute exit", "err", err)
		os.Exit(1)
	}
}
