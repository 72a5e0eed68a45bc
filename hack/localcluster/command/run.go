// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package command

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strconv"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/sharelinuxs/modelbox-apiserver/hack/localcluster/cluster"
	"github.com/sharelinuxs/modelbox-apiserver/hack/localcluster/modelbox"
	"github.com/sharelinuxs/modelbox-apiserver/hack/localcluster/progress"
	"github.com/sharelinuxs/modelbox-apiserver/hack/localcluster/supervisor"
	"github.com/sharelinuxs/modelbox-apiserver/hack/localcluster/workdir"
)

// readyFile is a file in the run directory that exists after the start is complete. It has the PID of the supervisor, so that no
// command mistakes an old file for a new one.
const readyFile = "ready"

func newRunCommand() *cobra.Command {
	var o options
	command := &cobra.Command{
		Use:   "run",
		Short: "Run a cluster in the foreground until Ctrl-C",
		Long: `run starts a new, empty cluster and stays in the foreground. Parts that die are
restarted. Ctrl-C (SIGINT) or SIGTERM stops all of them and removes the cluster's
state; only its logs stay, in DIR/logs.`,
		Args: cobra.NoArgs,
		RunE: func(command *cobra.Command, _ []string) error {
			if err := o.validate(); err != nil {
				return err
			}
			return run(command.Context(), o, command.OutOrStdout())
		},
	}
	o.addFlags(command.Flags())
	return command
}

func run(ctx context.Context, o options, out io.Writer) error {
	// This variable refers to another cluster.
	if err := os.Unsetenv("KUBECONFIG"); err != nil {
		return err
	}
	// After the first signal, the default applies again: a second signal ends the supervisor immediately, and the kernel kills its
	// parts.
	ctx, restoreSignals := signal.NotifyContext(ctx, syscall.SIGINT, syscall.SIGTERM)
	context.AfterFunc(ctx, restoreSignals)

	dir, err := workdir.New(o.dir)
	if err != nil {
		return err
	}
	claim, err := dir.Claim()
	if err != nil {
		return err
	}
	report := &progress.Reporter{Out: out}
	c, err := cluster.New(claim, o.settings, report.Say)
	if err != nil {
		return errors.Join(err, claim.Clear())
	}
	err = serve(ctx, c, o, report)
	if err == nil {
		report.Say("stopping")
	}
	return errors.Join(err, c.Stop(), claim.Clear())
}

// serve runs the cluster until it is stopped. It returns nil if the cluster had been started.
func serve(ctx context.Context, c *cluster.Cluster, o options, report *progress.Reporter) error {
	if err := start(ctx, c, o, report); err != nil {
		if ctx.Err() != nil {
			return errors.New("told to stop before the cluster was ready")
		}
		return withLogTail(err)
	}
	pid := strconv.Itoa(os.Getpid())
	if err := os.WriteFile(c.Run(readyFile), []byte(pid), 0o644); err != nil {
		return fmt.Errorf("saying that the cluster is ready: %w", err)
	}
	<-ctx.Done()
	return nil
}

func start(ctx context.Context, c *cluster.Cluster, o options, report *progress.Reporter) error {
	ctx, cancel := context.WithTimeoutCause(ctx, o.timeout, fmt.Errorf("--timeout=%s is over", o.timeout))
	defer cancel()

	err := report.Step("cluster ready", func() error {
		if err := c.Start(ctx, report); err != nil || o.server == "" {
			return err
		}
		return modelbox.Install(ctx, c, modelbox.Options{
			Server:     o.server,
			ServerArgs: o.serverArgs,
			Audit:      o.settings.Audit,
			Artifacts:  o.artifacts,
			Components: o.components,
			Sample:     o.sample,
		}, report)
	})
	if err != nil {
		return err
	}
	if o.sample != "" {
		summary, err := modelbox.Summary(ctx, c, o.sample)
		if err != nil {
			return err
		}
		report.Say("\n" + summary)
	}
	report.Say(howToUse(c.Dir, o.sample))
	return nil
}

// withLogTail adds the last lines of the log of the failed part to the error.
func withLogTail(err error) error {
	var blamed *supervisor.PartError
	if !errors.As(err, &blamed) {
		return err
	}
	tail, readErr := lastLines(blamed.Log, 20)
	if readErr != nil {
		return err
	}
	return fmt.Errorf("%w\nthe end of %s:\n%s", err, blamed.Log, tail)
}
