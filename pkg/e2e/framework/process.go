// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package framework

import (
	"bytes"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// ServerProcess is the name of the process of the server.
const ServerProcess = "modelbox-apiserver"

// StartProcess starts a process that gets the signal when this process ends for any reason. The channel receives its error.
func StartProcess(command *exec.Cmd, signal syscall.Signal) (chan error, error) {
	command.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: signal}
	started, ended := make(chan error), make(chan error, 1)
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
	return ended, <-started
}

// StartLoggedProcess is like StartProcess. It appends the output of the process to a log.
func StartLoggedProcess(command *exec.Cmd, path string, signal syscall.Signal) (chan error, error) {
	log, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return nil, err
	}
	defer log.Close()
	command.Stdout, command.Stderr = log, log
	return StartProcess(command, signal)
}

// CommandLine returns the program and the arguments of a process.
func CommandLine(t *testing.T, pid int) []string {
	t.Helper()
	content, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
	if err != nil {
		t.Fatal(err)
	}
	return strings.Split(strings.TrimSuffix(string(content), "\x00"), "\x00")
}

// ServerCommand returns the command line of the server with these flags. They replace its flags with the same names, because a flag
// with a list would have both values.
func (p *ControlPlane) ServerCommand(t *testing.T, flags ...string) []string {
	t.Helper()
	command := slices.DeleteFunc(CommandLine(t, p.ServerPID(t)), func(argument string) bool {
		name, _, _ := strings.Cut(argument, "=")
		return slices.ContainsFunc(flags, func(flag string) bool { return strings.HasPrefix(flag, name+"=") })
	})
	return append(command, flags...)
}

// FreePort returns an unused port.
func FreePort(t *testing.T) int {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	return listener.Addr().(*net.TCPAddr).Port
}

// ProcessesMentioning returns the command lines of all processes with the text in their arguments or environment.
func ProcessesMentioning(text string) ([]string, error) {
	directories, err := filepath.Glob("/proc/[0-9]*")
	if err != nil {
		return nil, fmt.Errorf("listing processes: %w", err)
	}
	var found []string
	for _, directory := range directories {
		// A process that cannot be read has ended meanwhile, or belongs to another user.
		arguments, _ := os.ReadFile(filepath.Join(directory, "cmdline"))
		environment, _ := os.ReadFile(filepath.Join(directory, "environ"))
		if bytes.Contains(arguments, []byte(text)) || bytes.Contains(environment, []byte(text)) {
			commandLine := strings.ReplaceAll(string(arguments), "\x00", " ")
			found = append(found, filepath.Base(directory)+" "+commandLine)
		}
	}
	return found, nil
}

// ServerPID returns the ID of the current process of the server.
func (p *ControlPlane) ServerPID(t *testing.T) int {
	t.Helper()
	return p.processID(t, ServerProcess)
}

// processID returns the ID of the process of a component. It waits for a component that is being restarted.
func (p *ControlPlane) processID(t *testing.T, name string) int {
	t.Helper()
	var pid int
	Eventually(t, Patience, name+" has a process", func() error {
		content, err := os.ReadFile(p.pidFile(name))
		if err != nil {
			return err
		}
		if pid, err = strconv.Atoi(strings.TrimSpace(string(content))); err != nil {
			return err
		}
		return syscall.Kill(pid, 0)
	})
	return pid
}

// SignalServer sends a signal to the server, and returns the time that the process takes to end.
func (p *ControlPlane) SignalServer(t *testing.T, signal syscall.Signal) time.Duration {
	t.Helper()
	return p.SignalProcess(t, ServerProcess, signal)
}

// SignalProcess is like SignalServer, for any component of the control plane.
func (p *ControlPlane) SignalProcess(t *testing.T, name string, signal syscall.Signal) time.Duration {
	t.Helper()
	pid := p.processID(t, name)
	sent := time.Now()
	if err := syscall.Kill(pid, signal); err != nil {
		t.Fatalf("sending %s to %s: %v", signal, name, err)
	}
	Eventually(t, Patience, "the process of "+name+" ends", func() error {
		if err := syscall.Kill(pid, 0); !errors.Is(err, syscall.ESRCH) {
			return fmt.Errorf("process %d is there", pid)
		}
		return nil
	})
	return time.Since(sent)
}

// WhileFrozen calls do while a component of the control plane is frozen.
func (p *ControlPlane) WhileFrozen(t *testing.T, name string, do func()) {
	t.Helper()
	pid := p.processID(t, name)
	if err := syscall.Kill(pid, syscall.SIGSTOP); err != nil {
		t.Fatalf("freezing %s: %v", name, err)
	}
	defer func() { _ = syscall.Kill(pid, syscall.SIGCONT) }()
	do()
}
