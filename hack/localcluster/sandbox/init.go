// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package sandbox

import (
	"fmt"
	"os"
	"os/signal"
	"syscall"
)

// runAsChild is the init process of the namespace, and therefore the parent of every orphan in it. It runs this program again as a
// child, forwards signals, and waits for all processes that end. When it ends, the kernel kills the others.
func runAsChild() error {
	told := make(chan os.Signal, 1)
	signal.Notify(told, syscall.SIGINT, syscall.SIGTERM)

	child, err := os.StartProcess("/proc/self/exe", os.Args, &os.ProcAttr{
		Env:   os.Environ(),
		Files: []*os.File{os.Stdin, os.Stdout, os.Stderr},
		// A signal to the init process is sent to its process group, and would reach the child twice.
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
