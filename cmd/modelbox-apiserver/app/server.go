// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

// Package app is the modelbox-apiserver command.
package app

import (
	"context"
	"errors"
	"fmt"

	"github.com/KimMachineGun/automemlimit/memlimit"
	"github.com/spf13/cobra"
	cliflag "k8s.io/component-base/cli/flag"
	"k8s.io/component-base/cli/globalflag"
	logsapi "k8s.io/component-base/logs/api/v1"
	_ "k8s.io/component-base/metrics/prometheus/clientgo" // for the metrics of clients, leader election and work queues
	"k8s.io/component-base/term"
	"k8s.io/klog/v2"

	"github.com/sharelinuxs/modelbox-apiserver/cmd/modelbox-apiserver/app/options"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/storage/embeddedetcd"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/storage/recovery"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/version"
)

// NewCommand returns the command that runs the server until ctx is done.
func NewCommand(ctx context.Context, o *options.Options) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "modelbox-apiserver",
		Short: "Run the ModelBox API server and its controllers",
		Long: `modelbox-apiserver is an aggregated API server. It serves ModelBox objects (model.github.com/v1) from an etcd
of its own, and runs the controllers that create a Deployment and a Service in the cluster for each of them.`,
		Args:         cobra.NoArgs,
		Version:      version.Get().String(),
		SilenceUsage: true,
		PersistentPreRunE: func(*cobra.Command, []string) error {
			return o.Server.ComponentGlobalsRegistry.Set()
		},
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := logsapi.ValidateAndApply(o.Logs, o.Server.ComponentGlobalsRegistry.FeatureGateFor(o.Server.ComponentName)); err != nil {
				return err
			}
			if err := o.Complete(); err != nil {
				return err
			}
			if err := o.Validate(); err != nil {
				return err
			}
			limitMemory(cmd.Context(), memlimit.FromCgroup)
			return Run(cmd.Context(), o)
		},
	}
	cmd.SetContext(ctx)
	cmd.SetVersionTemplate("{{.Name}} {{.Version}}\n")

	flags := o.Flags()
	globalflag.AddGlobalFlags(flags.FlagSet("global"), cmd.Name())
	flags.FlagSet("global").Bool("version", false, "Print the version of the server and of its dependencies, and quit")
	for _, set := range flags.FlagSets {
		cmd.Flags().AddFlagSet(set)
	}
	columns, _, _ := term.TerminalSize(cmd.OutOrStdout())
	cliflag.SetUsageAndHelpFunc(cmd, flags, columns)
	cmd.AddCommand(newSnapshotCommand(), newEtcdCertificatesCommand())
	return cmd
}

// usePlainHelp sets a plain help for a command and its subcommands. The help of the server lists the flags of the server.
func usePlainHelp(cmd *cobra.Command) {
	plain := &cobra.Command{}
	cmd.SetHelpFunc(plain.HelpFunc())
	cmd.SetUsageFunc(plain.UsageFunc())
}

// Run serves until ctx is done and everything is stopped: first the controllers, then the requests, then the
// storage.
func Run(ctx context.Context, o *options.Options) error {
	err := run(ctx, o)
	var raise *recovery.RaiseRevisionError
	if errors.As(err, &raise) {
		if err := embeddedetcd.RaiseRevision(o.Storage.DataDir, raise.To); err != nil {
			return fmt.Errorf("raising the revision of the embedded etcd: %w", err)
		}
	}
	return err
}

func run(ctx context.Context, o *options.Options) error {
	info := version.Get()
	klog.FromContext(ctx).Info("Starting", "version", info.Version, "commit", info.Commit, "treeState", info.TreeState, "kubernetesLibraries", info.Kubernetes, "goVersion", info.GoVersion)
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var etcd *embeddedetcd.Server
	if o.Storage.DataDir != "" {
		var err error
		etcd, err = embeddedetcd.Start(ctx, o.Storage.EmbeddedEtcd())
		if err != nil {
			return fmt.Errorf("starting the embedded etcd: %w", err)
		}
		defer etcd.Stop()
		go cancelOnFailure(ctx, etcd, cancel)

		stopSnapshots, err := startSnapshots(ctx, o)
		if err != nil {
			return err
		}
		defer stopSnapshots()
	}

	config, err := NewConfig(o, etcd, cancel)
	if err != nil {
		return err
	}
	server, err := config.APIs.Complete().New()
	if err != nil {
		return err
	}
	if err := addControllers(ctx, server, config, o, cancel); err != nil {
		return err
	}
	if err := addStorageEvents(ctx, server, config.APIs, etcd, o.Controllers.LeaderElection.ResourceNamespace); err != nil {
		return err
	}
	if err := server.PrepareRun().RunWithContext(ctx); err != nil {
		return fmt.Errorf("serving: %w", err)
	}
	if cause := context.Cause(ctx); cause != context.Canceled {
		return cause
	}
	return nil
}

// cancelOnFailure ends the server when its etcd fails: a restart can repair it, serving on cannot.
func cancelOnFailure(ctx context.Context, etcd *embeddedetcd.Server, cancel context.CancelCauseFunc) {
	select {
	case err := <-etcd.Err():
		klog.FromContext(ctx).Error(err, "The embedded etcd failed, stopping")
		cancel(fmt.Errorf("the embedded etcd failed: %w", err))
	case <-ctx.Done():
	}
}
