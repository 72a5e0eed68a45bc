// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package testbed

import (
	"fmt"
	"os/exec"
	"runtime"
	"syscall"
)

// startWithParent starts a process that gets the signal to stop when this process ends for any reason. The channel receives its
// error.
func startWithParent(command *exec.Cmd, ended chan<- error) error {
	// Use a separate process group: Ctrl-C only signals this process, which then stops the child gracefully.
	command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGTERM}
	started := make(chan error)
	go func() {
		// The kernel tracks the parent thread. Keep the thread alive as long as the process.
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := command.Start()
		started <- err
		if err == nil {
			ended <- command.Wait()
		}
	}()
	if err := <-started; err != nil {
		return fmt.Errorf("starting %s: %w", command.Path, err)
	}
	return nil
}
