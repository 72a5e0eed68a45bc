// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package supervisor

import (
	"context"
	"fmt"
	"time"
)

// Part is one program to keep running.
type Part struct {
	// Name is unique within a supervisor. It names the log and the pid file.
	Name string
	// Path of the program, and its arguments without argv[0].
	Path string
	Args []string
	// Dir is the working directory.
	Dir string
	// Env is added to the supervisor's own environment.
	Env []string
	// Namespaces are those that the program gets for itself, as clone takes them.
	Namespaces uintptr
	// Started is called whenever the program was started, with its pid. An error is
	// as if it could not be started. Nil: nothing to do.
	Started func(pid int) error
	// Ready returns nil as soon as the part can be used. It is called again and
	// again until then. Nil: ready once started.
	Ready func(context.Context) error
	// StopGrace is how long the part may take to end after SIGTERM, before SIGKILL.
	StopGrace time.Duration
}

// PartError says which part is to blame for an error, and where it explains itself.
type PartError struct {
	Part string
	// Log is the path of the part's log.
	Log string
	Err error
}

func (e *PartError) Error() string { return fmt.Sprintf("%s: %v", e.Part, e.Err) }
func (e *PartError) Unwrap() error { return e.Err }
