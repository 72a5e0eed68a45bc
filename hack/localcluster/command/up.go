// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package command

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/sharelinuxs/modelbox-apiserver/hack/localcluster/cluster"
	"github.com/sharelinuxs/modelbox-apiserver/hack/localcluster/workdir"
)

const pollInterval = 100 * time.Millisecond

func newUpCommand() *cobra.Command {
	var o options
	command := &cobra.Command{
		Use:   "up",
		Short: "Start a cluster in the background",
		Long: `up starts "run" in the background and returns when the cluster is ready. Where a
healthy cluster already runs in --dir it leaves that one as it is. When the start
fails nothing is left running.`,
		Args: cobra.NoArgs,
		RunE: func(command *cobra.Command, _ []string) error {
			return up(command.Context(), o, command.OutOrStdout())
		},
	}
	o.addFlags(command.Flags())
	return command
}

func up(ctx context.Context, o options, out io.Writer) error {
	ctx, restoreSignals := signal.NotifyContext(ctx, syscall.SIGINT, syscall.SIGTERM)
	defer restoreSignals()

	dir, err := workdir.New(o.dir)
	if err != nil {
		return err
	}
	holder, err := dir.Holder()
	if err != nil {
		return err
	}
	if holder != nil {
		return joinRunning(ctx, dir, holder, o, out)
	}
	if err := o.validate(); err != nil {
		return err
	}
	if err := dir.Usable(); err != nil {
		return fmt.Errorf("%s: %w", dir, err)
	}
	return startInBackground(ctx, dir, o, out)
}

// joinRunning waits until a cluster that another process has started is ready.
func joinRunning(ctx context.Context, dir workdir.Dir, holder *os.Process, o options, out io.Writer) error {
	ctx, cancel := context.WithTimeout(ctx, o.timeout)
	defer cancel()
	for !isReady(dir, holder.Pid) {
		if now, err := dir.Holder(); err == nil && now == nil {
			return errors.New("the cluster that was starting there has failed")
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("process %d is starting a cluster there, but it does not become ready", holder.Pid)
		case <-time.After(pollInterval):
		}
	}
	if err := cluster.Healthy(ctx, dir); err != nil {
		return fmt.Errorf("the cluster that runs there (process %d) is not healthy, stop it with down: %w", holder.Pid, err)
	}
	fmt.Fprintf(out, "already running (process %d)\n%s\n", holder.Pid, howToUse(dir, o.sample))
	return nil
}

func startInBackground(ctx context.Context, dir workdir.Dir, o options, out io.Writer) error {
	log, err := openBackgroundLog(dir)
	if err != nil {
		return err
	}
	defer log.Close()
	said, err := log.Seek(0, io.SeekEnd)
	if err != nil {
		return fmt.Errorf("finding the end of the log: %w", err)
	}
	binary, err := os.Executable()
	if err != nil {
		return fmt.Errorf("finding this program: %w", err)
	}
	child := exec.Command(binary, append([]string{"run"}, o.asArgs()...)...)
	child.Stdout, child.Stderr = log, log
	child.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := child.Start(); err != nil {
		return fmt.Errorf("starting in the background: %w", err)
	}
	exited := make(chan error, 1)
	go func() { exited <- child.Wait() }()

	relay := func() {
		copied, _ := io.Copy(out, io.NewSectionReader(log, said, 1<<40))
		said += copied
	}
	interrupted := ctx.Done()
	for {
		ready := isReady(dir, child.Process.Pid)
		relay()
		if ready {
			return nil
		}
		select {
		case <-exited:
			relay()
			return errors.New("the cluster did not start")
		case <-interrupted:
			interrupted = nil
			_ = child.Process.Signal(syscall.SIGTERM)
		case <-time.After(pollInterval):
		}
	}
}

func openBackgroundLog(dir workdir.Dir) (*os.File, error) {
	if err := os.MkdirAll(dir.Logs(), 0o700); err != nil {
		return nil, fmt.Errorf("creating the folder for logs: %w", err)
	}
	log, err := os.OpenFile(dir.BackgroundLog(), os.O_CREATE|os.O_APPEND|os.O_RDWR, 0o644)
	if err != nil {
		return nil, fmt.Errorf("opening the log: %w", err)
	}
	return log, nil
}

// isReady returns whether the supervisor with the PID has completed its start.
func isReady(dir workdir.Dir, pid int) bool {
	content, err := os.ReadFile(dir.Run(readyFile))
	return err == nil && strings.TrimSpace(string(content)) == strconv.Itoa(pid)
}
