// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"syscall"
)

// execute runs a test program, appends its CPU time to a file, and exits with the exit code of the program if it failed.
func execute(file, program string, arguments []string) error {
	command := exec.Command(program, arguments...)
	command.Stdin, command.Stdout, command.Stderr = os.Stdin, os.Stdout, os.Stderr
	// After a timeout, "go test" only signals this process. A terminal signals both.
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGINT, syscall.SIGQUIT, syscall.SIGTERM)
	if err := command.Start(); err != nil {
		return fmt.Errorf("starting the test program: %w", err)
	}
	go func() {
		for s := range signals {
			_ = command.Process.Signal(s)
		}
	}()
	err := command.Wait()
	if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
		return fmt.Errorf("waiting for the test program: %w", err)
	}
	state := command.ProcessState
	if err := appendUsage(file, (state.UserTime() + state.SystemTime()).Seconds()); err != nil {
		return err
	}
	if err != nil {
		os.Exit(max(state.ExitCode(), 1))
	}
	return nil
}

// appendUsage writes one line with one write, as other test programs append to the file at the same time.
func appendUsage(file string, seconds float64) error {
	dir, err := os.Getwd()
	if err != nil {
		return err
	}
	f, err := os.OpenFile(file, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	defer f.Close()
	_, err = fmt.Fprintf(f, "%s\t%.2f\n", dir, seconds)
	return err
}
