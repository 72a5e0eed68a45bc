// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package ground

import (
	"fmt"
	"os/exec"
	"runtime"
	"syscall"
)

// startWithParent starts a process that is told to stop when this one ends, whatever ends it. The channel tells how it ended.
func startWithParent(command *exec.Cmd, ended chan<- error) error {
	// A group of its own: Ctrl-C is for this process, which then stops that one in order.
	command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGTERM}
	started := make(chan error)
	go func() {
		// For the kernel the parent is the thread, which therefore has to live as long as the process.
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
