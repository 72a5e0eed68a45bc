// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package ground

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"
)

// programStopTimeout is how long a program may take that is told to stop.
const programStopTimeout = 30 * time.Second

// RunServer starts a program whose CPU counts as that of the servers until stop is called, which ends it in order. What it says
// goes to a log of its name, but for what the command has another place for.
func (g *Ground) RunServer(name string, command *exec.Cmd) (stop func() error, err error) {
	log, err := os.OpenFile(filepath.Join(g.Dir, "logs", name+".log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
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
	ended, err := g.StartServer(name, command)
	if err != nil {
		return nil, err
	}
	return func() error {
		g.ForgetServer(name)
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
