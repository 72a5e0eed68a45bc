// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package testbed

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"
)

// programStopTimeout is the timeout for a program to stop.
const programStopTimeout = 30 * time.Second

// RunServer starts a program, and includes its CPU time in the CPU time of the servers until stop is called. stop stops it
// gracefully. The output goes to a log with the name of the program, unless the command redirects it.
func (bed *Testbed) RunServer(name string, command *exec.Cmd) (stop func() error, err error) {
	log, err := os.OpenFile(filepath.Join(bed.Dir, "logs", name+".log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return nil, fmt.Errorf("opening the log of %s: %w", name, err)
	}
	defer log.Close()
	if command.Stdout == nil {
		command.Stdout = log
	}
	if command.Stderr == nil {
		command.Stderr = log
	}
	ended, err := bed.StartServer(name, command)
	if err != nil {
		return nil, err
	}
	return func() error {
		bed.ForgetServer(name)
		if err := command.Process.Signal(syscall.SIGTERM); err != nil && !errors.Is(err, os.ErrProcessDone) {
			return fmt.Errorf("stopping %s: %w", name, err)
		}
		select {
		case err := <-ended:
			if err != nil {
				return fmt.Errorf("%s did not end well, see %s: %w", name, log.Name(), err)
			}
			return nil
		case <-time.After(programStopTimeout):
			return errors.Join(fmt.Errorf("%s does not end", name), command.Process.Kill())
		}
	}, nil
}
