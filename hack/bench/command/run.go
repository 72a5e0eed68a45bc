// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package command

import (
	"context"
	"debug/buildinfo"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/sharelinuxs/modelbox-apiserver/hack/bench/report"
	"github.com/sharelinuxs/modelbox-apiserver/hack/bench/result"
	"github.com/sharelinuxs/modelbox-apiserver/hack/bench/runner"
	"github.com/sharelinuxs/modelbox-apiserver/hack/bench/scenario"
	"github.com/sharelinuxs/modelbox-apiserver/hack/bench/testbed"
)

const (
	defaultRounds = 5
	quickRounds   = 1
)

// runOptions are the flags of run.
type runOptions struct {
	runner.Options
	output string
}

func newRunCommand() *cobra.Command {
	var o runOptions
	command := &cobra.Command{
		Use:   "run [SCENARIO...]",
		Short: "Measure, and write the result and a report",
		Long: `run measures the scenarios that are named, or all of them, each on a control plane of its own; with --quick
on the control plane of the one before where it needs the same. It writes the
result and a report into the folder --output after each of them. Ctrl-C ends it, and the control plane.`,
		ValidArgs: scenario.Names(),
		RunE: func(command *cobra.Command, args []string) error {
			if err := o.complete(command.Flags()); err != nil {
				return err
			}
			scenarios, err := scenario.Named(args)
			if err != nil {
				return err
			}
			ctx, stop := signal.NotifyContext(command.Context(), os.Interrupt, syscall.SIGTERM)
			defer stop()
			return o.run(ctx, scenarios, command.OutOrStdout())
		},
	}
	o.addFlags(command.Flags())
	return command
}

func (o *runOptions) addFlags(flags *pflag.FlagSet) {
	flags.IntVar(&o.Rounds, "rounds", defaultRounds, fmt.Sprintf("how often each contestant is measured; %d with --quick unless given", quickRounds))
	flags.IntVar(&o.Size, "size", 0, "how many objects every scenario has; 0 for as many as each one needs")
	flags.BoolVar(&o.Quick, "quick", false, "show every ratio roughly, in minutes")
	flags.BoolVar(&o.Full, "full", false, "have as many objects in every scenario as its goals are about, which takes hours")
	flags.StringVar(&o.output, "output", "_output/bench", "folder for the result and the report")
	flags.StringVar(&o.Dir, "dir", "_output/bench/clusters", "folder for the control planes, on a disk like the disks of real ones")
	flags.StringVar(&o.Programs.Bin, "bin", "_output/bin", "folder with localcluster, modelbox-apiserver and etcd")
	flags.StringVar(&o.Programs.Artifacts, "artifacts", "artifacts", "folder with the server's manifests")
}

func (o *runOptions) complete(flags *pflag.FlagSet) error {
	if o.Quick && !flags.Changed("rounds") {
		o.Rounds = quickRounds
	}
	if o.Rounds < 1 {
		return fmt.Errorf("--rounds=%d: must be above 0", o.Rounds)
	}
	if o.Quick && o.Full {
		return errors.New("--quick and --full: only one of them may be given")
	}
	if o.Size < 0 {
		return fmt.Errorf("--size=%d: must be 0 or above", o.Size)
	}
	return o.Programs.Check()
}

func (o *runOptions) run(ctx context.Context, scenarios []*runner.Scenario, out io.Writer) (err error) {
	o.Say = func(line string) { fmt.Fprintln(out, line) }
	machine, err := describeMachine()
	if err != nil {
		return err
	}
	versions, err := o.versions(ctx)
	if err != nil {
		return err
	}
	if machine.IsBusy() {
		o.Say(fmt.Sprintf("The machine is busy, with %.0f %% of its processors: the figures will say little.", 100*machine.BusyBefore))
	}
	if err := os.MkdirAll(o.output, 0o755); err != nil {
		return fmt.Errorf("creating the folder for the report: %w", err)
	}
	r := &result.Result{Format: result.Format, Began: time.Now().UTC(), Machine: *machine, Versions: versions, Settings: o.Settings}
	stage := &runner.Stage{Options: o.Options}
	defer func() { err = errors.Join(err, stage.Clear()) }()
	for _, s := range scenarios {
		played, err := stage.Play(ctx, s)
		if played != nil && len(played.Measurements) > 0 {
			r.Scenarios = append(r.Scenarios, *played)
			err = errors.Join(err, report.Terminal(out, played))
		}
		r.Ended = time.Now().UTC()
		err = errors.Join(err, r.Write(filepath.Join(o.output, report.ResultFile)), report.Write(o.output, r))
		if err != nil {
			return err
		}
	}
	o.Say(fmt.Sprintf("The report is in %s, after %s.", o.output, r.Ended.Sub(r.Began).Round(time.Second)))
	return nil
}

// versions are what the programs say that they are.
func (o *runOptions) versions(ctx context.Context) (map[string]string, error) {
	versions := map[string]string{}
	for _, program := range []struct {
		name    string
		command []string
	}{
		{"modelbox-apiserver", []string{"modelbox-apiserver", "--version"}},
		{"etcd", []string{"etcd", "--version"}},
		{"kube-apiserver", []string{"localcluster", "kube-apiserver", "--version"}},
	} {
		said, err := o.Programs.Run(ctx, program.command...)
		if err != nil {
			return nil, fmt.Errorf("asking %s for its version: %w", program.name, err)
		}
		versions[program.name], _, _ = strings.Cut(said, "\n")
	}
	// These do not say it, but the Go toolchain has recorded it.
	for _, program := range []string{testbed.Kro, testbed.ArgoRollouts} {
		built, err := buildinfo.ReadFile(o.Programs.Path(program))
		if err != nil {
			return nil, fmt.Errorf("reading the version of %s: %w", program, err)
		}
		versions[program] = built.Main.Version
	}
	return versions, nil
}
