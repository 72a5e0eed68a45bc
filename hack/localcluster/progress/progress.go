// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

// Package progress reports the steps of a start and their times to the user.
package progress

import (
	"fmt"
	"io"
	"sync"
	"time"
)

// Reporter writes lines to Out. It may be used from any goroutine.
type Reporter struct {
	Out io.Writer
	mu  sync.Mutex
}

// Step runs one step and, if it succeeds, reports title with the time of the step. title describes the state after the step.
func (r *Reporter) Step(title string, do func() error) error {
	began := time.Now()
	if err := do(); err != nil {
		return err
	}
	r.Say(fmt.Sprintf("  %-44s %5.1fs", title, time.Since(began).Seconds()))
	return nil
}

// Say writes one line, or several.
func (r *Reporter) Say(text string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	fmt.Fprintln(r.Out, text)
}
