// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package sandbox

import (
	"fmt"
	"os"
	"os/signal"
	"syscall"
)

// runAsChild is the first process of the namespace, which becomes the parent of
// every orphan in it: it runs this program again as a child, passes on what it is
// told, and waits for all that end. With its own end the kernel kills the rest.
func runAsChild() error {
	told := make(chan os.Signal, 1)
	signal.Notify(told, syscall.SIGINT, syscall.SIGTERM)

	child, err := os.StartProcess("/proc/self/exe", os.Args, &os.ProcAttr{
		Env:   os.Environ(),
		Files: []*os.File{os.Stdin, os.Stdout, os.Stderr},
		// A signal to the first process is sent to its group. It would reach the
		// child twice.
		Sys: &syscall.SysProcAttr{Setpgid: true},
	})
	if err != nil {
		return fmt.Errorf("starting the node: %w", err)
	}
	go func() {
		for signal := range told {
			_ = syscall.Kill(child.Pid, signal.(syscall.Signal))
		}
	}()
	for {
		var status syscall.WaitStatus
		pid, err := syscall.Wait4(-1, &status, 0, nil)
		switch {
		case err == syscall.EINTR:
		case err != nil:
			return fmt.Errorf("waiting for the node: %w", err)
		case pid == child.Pid && status.ExitStatus() == 0:
			return nil
		case pid == child.Pid && status.Signaled():
			return fmt.Errorf("the node ended: %s", status.Signal())
		case pid == child.Pid:
			return fmt.Errorf("the node ended: exit status %d", status.ExitStatus())
		}
	}
}
