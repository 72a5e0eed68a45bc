// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

// Package supervisor runs programs as child processes, and restarts programs that end. It leaves no process behind, even if it is
// killed.
package supervisor

import (
	"bytes"
	"context"
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"sync"
	"time"
)

const readyPollInterval = 50 * time.Millisecond

// Supervisor keeps parts running. Create it with New.
type Supervisor struct {
	mark     string
	logs     string
	run      string
	announce func(line string)
	spawner  *spawner

	mu    sync.Mutex
	parts []*keeper // in the order they were started
}

// New returns a supervisor that writes logs and pid files to these directories. Every child has mark in its environment, by which
// KillLeftovers identifies it. The supervisor calls announce with one line for every unexpected event, from any goroutine.
func New(mark, logs, run string, announce func(line string)) *Supervisor {
	return &Supervisor{mark: mark, logs: logs, run: run, announce: announce, spawner: newSpawner()}
}

// Start starts parts in this order, and waits until all of them are ready. It returns an error if a part ends before it is ready. A
// part that ends later is restarted. Errors of a part have the type *PartError. After an error, the other parts keep running until
// Stop.
func (s *Supervisor) Start(ctx context.Context, parts ...Part) error {
	started := make([]*keeper, 0, len(parts))
	for _, part := range parts {
		k, err := s.keep(part)
		if err != nil {
			return s.BlameOn(part.Name, err)
		}
		started = append(started, k)
	}
	for _, k := range started {
		if err := k.awaitFirstReady(ctx); err != nil {
			return s.BlameOn(k.part.Name, err)
		}
	}
	return nil
}

// Restart restarts a part, and waits until it is ready.
func (s *Supervisor) Restart(ctx context.Context, name string) error {
	k := s.find(name)
	if k == nil {
		return fmt.Errorf("restarting %s: no such part", name)
	}
	if err := k.restart(ctx); err != nil {
		return s.BlameOn(name, err)
	}
	return nil
}

// Stop stops all parts in the reverse order of their start, and waits until all of them have ended.
func (s *Supervisor) Stop() {
	s.mu.Lock()
	parts := s.parts
	s.parts = nil
	s.mu.Unlock()

	for _, k := range slices.Backward(parts) {
		k.end()
	}
}

// Run runs a program to its end with the same guarantees as a part, and returns its standard output. The error includes its
// standard error. env is added to the environment of the supervisor.
func (s *Supervisor) Run(ctx context.Context, env []string, path string, args ...string) ([]byte, error) {
	var stdout, stderr bytes.Buffer
	command := exec.Command(path, args...)
	command.Env = s.environment(env)
	command.Stdout, command.Stderr = &stdout, &stderr
	if err := s.spawner.start(command, 0); err != nil {
		return nil, fmt.Errorf("starting %s: %w", path, err)
	}
	child := watch(command)
	select {
	case <-child.exited:
	case <-ctx.Done():
		child.terminate(time.Second)
		return stdout.Bytes(), fmt.Errorf("%w: %s", context.Cause(ctx), bytes.TrimSpace(stderr.Bytes()))
	}
	if child.err != nil {
		return stdout.Bytes(), fmt.Errorf("%w: %s", child.err, bytes.TrimSpace(stderr.Bytes()))
	}
	return stdout.Bytes(), nil
}

// BlameOn returns err as the error of a part, nil if err is nil.
func (s *Supervisor) BlameOn(part string, err error) error {
	if err == nil {
		return nil
	}
	return &PartError{Part: part, Log: s.logFile(part), Err: err}
}

func (s *Supervisor) find(name string) *keeper {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, k := range s.parts {
		if k.part.Name == name {
			return k
		}
	}
	return nil
}

func (s *Supervisor) logFile(part string) string { return filepath.Join(s.logs, part+".log") }
func (s *Supervisor) pidFile(part string) string { return filepath.Join(s.run, part+PIDSuffix) }
