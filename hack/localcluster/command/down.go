// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package command

import (
	"fmt"
	"io"
	"os"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/sharelinuxs/modelbox-apiserver/hack/localcluster/workdir"
)

const (
	// This is longer than the graceful stop of all parts.
	stopPatience = 60 * time.Second
	killPatience = 5 * time.Second
)

func newDownCommand() *cobra.Command {
	var path string
	command := &cobra.Command{
		Use:   "down",
		Short: "Stop the cluster in a folder and remove its state",
		Long: `down stops the cluster that runs in --dir, also one whose supervisor was killed,
and removes its keys, kubeconfig and data. Logs stay, in DIR/logs. That nothing
runs there is no error.`,
		Args: cobra.NoArgs,
		RunE: func(command *cobra.Command, _ []string) error {
			return down(path, command.OutOrStdout())
		},
	}
	command.Flags().StringVar(&path, "dir", defaultDir, dirUsage)
	return command
}

func down(path string, out io.Writer) error {
	dir, err := workdir.New(path)
	if err != nil {
		return err
	}
	if !dir.Exists() {
		fmt.Fprintf(out, "nothing runs in %s\n", path)
		return nil
	}
	holder, err := dir.Holder()
	if err != nil {
		return err
	}
	if holder != nil {
		if err := end(dir, holder); err != nil {
			return err
		}
	}
	// Also clean up after a killed supervisor.
	claim, err := dir.Claim()
	if err != nil {
		return err
	}
	claim.Release()
	if holder == nil {
		fmt.Fprintf(out, "nothing runs in %s\n", path)
	} else {
		fmt.Fprintf(out, "stopped the cluster in %s\n", path)
	}
	return nil
}

// end stops the supervisor, which stops its parts. If the supervisor is killed, the kernel kills them.
func end(dir workdir.Dir, supervisor *os.Process) error {
	for _, attempt := range []struct {
		signal   syscall.Signal
		patience time.Duration
	}{
		{syscall.SIGTERM, stopPatience},
		{syscall.SIGKILL, killPatience},
	} {
		if err := supervisor.Signal(attempt.signal); err != nil && err != os.ErrProcessDone {
			return fmt.Errorf("stopping process %d: %w", supervisor.Pid, err)
		}
		for deadline := time.Now().Add(attempt.patience); time.Now().Before(deadline); time.Sleep(pollInterval) {
			holder, err := dir.Holder()
			if err == nil && holder == nil {
				return nil
			}
		}
	}
	return fmt.Errorf("process %d does not end", supervisor.Pid)
}
