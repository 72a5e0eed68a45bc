// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package supervisor

import (
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"syscall"
	"time"
)

// process is a started child process. A goroutine waits for its end.
type process struct {
	*os.Process
	started time.Time
	// exited is closed when the process has ended. err is then its error, nil for status 0.
	exited chan struct{}
	err    error
}

// launch starts a part once, and writes its pid file.
func (s *Supervisor) launch(part Part) (*process, error) {
	log, err := os.OpenFile(s.logFile(part.Name), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return nil, fmt.Errorf("opening its log: %w", err)
	}
	defer log.Close()

	command := exec.Command(part.Path, part.Args...)
	command.Dir = part.Dir
	command.Env = s.environment(part.Env)
	command.Stdout, command.Stderr = log, log
	if err := s.spawner.start(command, part.Namespaces); err != nil {
		return nil, fmt.Errorf("starting it: %w", err)
	}
	child := watch(command)
	if part.Started != nil {
		if err := part.Started(child.Pid); err != nil {
			child.terminate(0)
			return nil, err
		}
	}
	pid := strconv.Itoa(child.Pid) + "\n"
	if err := os.WriteFile(s.pidFile(part.Name), []byte(pid), 0o644); err != nil {
		child.terminate(0)
		return nil, fmt.Errorf("noting its pid: %w", err)
	}
	return child, nil
}

func watch(command *exec.Cmd) *process {
	child := &process{Process: command.Process, started: time.Now(), exited: make(chan struct{})}
	go func() {
		child.err = command.Wait()
		signalGroup(child.Process, syscall.SIGKILL) // kill the processes that it has started
		close(child.exited)
	}()
	return child
}

// terminate sends SIGTERM to the process, sends SIGKILL after grace, and waits until it has ended. Without grace, it only sends
// SIGKILL.
func (p *process) terminate(grace time.Duration) {
	if grace > 0 {
		signalGroup(p.Process, syscall.SIGTERM)
		select {
		case <-p.exited:
			return
		case <-time.After(grace):
		}
	}
	signalGroup(p.Process, syscall.SIGKILL)
	<-p.exited
}

// outcome returns a description of the end of the process.
func (p *process) outcome() string {
	if p.err == nil {
		return "exit status 0"
	}
	return p.err.Error()
}
