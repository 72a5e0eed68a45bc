// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package supervisor

import (
	"context"
	"fmt"
	"time"
)

// Part is a program that the supervisor keeps running.
type Part struct {
	// Name is unique within a supervisor. It names the log and the pid file.
	Name string
	// Path of the program, and its arguments without argv[0].
	Path string
	Args []string
	// Dir is the working directory.
	Dir string
	// Env is added to the environment of the supervisor.
	Env []string
	// Namespaces are the new namespaces of the program, as flags of clone.
	Namespaces uintptr
	// Started is called after each start of the program, with its PID. An error counts as a failed start. It may be nil.
	Started func(pid int) error
	// Ready returns nil if the part is ready. It is called repeatedly until then. If Ready is nil, the part is ready when it is
	// started.
	Ready func(context.Context) error
	// StopGrace is the time between SIGTERM and SIGKILL.
	StopGrace time.Duration
}

// PartError is an error of a part, with the path of its log.
type PartError struct {
	Part string
	// Log is the path of the part's log.
	Log string
	Err error
}

func (e *PartError) Error() string { return fmt.Sprintf("%s: %v", e.Part, e.Err) }
func (e *PartError) Unwrap() error { return e.Err }
