// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

// Package progress tells a person what a start is doing and how long it took.
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

// Step does one thing and, when it worked, says so with the time it took. title
// reads as what is true afterwards.
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
