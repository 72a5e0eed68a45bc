// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package supervisor

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

const (
	// PIDSuffix is the suffix of the names of pid files, after the name of the part.
	PIDSuffix    = ".pid"
	markVariable = "LOCALCLUSTER_DIRECTORY"
)

func (s *Supervisor) environment(extra []string) []string {
	return append(append(os.Environ(), extra...), markVariable+"="+s.mark)
}

// KillLeftovers kills the parts that a supervisor with this mark has left, by the pid files in run, and waits until they have
// ended. It only signals processes with mark, because a PID may belong to another process meanwhile.
func KillLeftovers(ctx context.Context, mark, run string) error {
	files, err := filepath.Glob(filepath.Join(run, "*"+PIDSuffix))
	if err != nil {
		return fmt.Errorf("listing pid files: %w", err)
	}
	for _, file := range files {
		content, err := os.ReadFile(file)
		if err != nil {
			return fmt.Errorf("reading a pid file: %w", err)
		}
		pid, err := strconv.Atoi(strings.TrimSpace(string(content)))
		if err != nil || pid <= 1 {
			continue // a killed supervisor has left an incomplete file
		}
		if err := killMarked(ctx, pid, mark); err != nil {
			return err
		}
	}
	return nil
}

func killMarked(ctx context.Context, pid int, mark string) error {
	// The handle refers to this process, even if its PID is reused between the check and the signal.
	process, err := os.FindProcess(pid)
	if err != nil {
		return fmt.Errorf("opening process %d: %w", pid, err)
	}
	defer process.Release()

	for carriesMark(pid, mark) {
		if err := process.Kill(); err == os.ErrProcessDone {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("process %d, left by an earlier cluster in %s, does not end: %w", pid, mark, context.Cause(ctx))
		case <-time.After(20 * time.Millisecond):
		}
	}
	return nil
}

// carriesMark returns whether a process has the mark in its environment. It returns false for processes that have ended and for
// zombies, which have no environment.
func carriesMark(pid int, mark string) bool {
	environment, err := os.ReadFile(fmt.Sprintf("/proc/%d/environ", pid))
	if err != nil {
		return false
	}
	for variable := range bytes.SplitSeq(environment, []byte{0}) {
		if string(variable) == markVariable+"="+mark {
			return true
		}
	}
	return false
}
