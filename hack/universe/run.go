// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package universe

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"
)

// Result is the result of a run.
type Result struct {
	Violations []Violation
	Stats      Stats
}

// Run runs the plan, and writes all requests, events and actions to the trace, if it is not nil. It must be called in a bubble of
// testing/synctest. It returns an error if the simulation itself fails.
func Run(ctx context.Context, servers *Servers, plan Plan, trace io.Writer) (*Result, error) {
	start := time.Now()
	w, err := newWorld(ctx, servers, plan, trace)
	if err != nil {
		return nil, fmt.Errorf("creating the world: %w", err)
	}
	w.startManager(ctx)
	if err := w.startServers(ctx); err != nil {
		return nil, err
	}
	err = w.live(ctx)
	for _, process := range append(w.servers, w.manager) {
		err = errors.Join(err, process.kill())
	}
	if err != nil {
		return nil, err
	}
	w.stats.Simulated = time.Since(start)
	return &Result{Violations: w.checks.violations, Stats: w.stats}, nil
}

// live makes the moves of the plan, and checks the objects when everything has settled.
func (w *world) live(ctx context.Context) error {
	if err := w.unsettle(ctx); err != nil {
		return err
	}
	w.note("no more actions")
	if err := w.expectSettled(ctx); err != nil {
		return err
	}
	if len(w.checks.violations) == 0 {
		w.checks.settled(ctx)
	}
	if len(w.checks.violations) > 0 {
		return nil
	}

	// New servers find nothing to write.
	w.checks.isQuiet = true
	for i := range w.servers {
		if err := w.restart(ctx, i); err != nil {
			return err
		}
	}
	return w.expectSettled(ctx)
}

// expectSettled checks that everything settles.
func (w *world) expectSettled(ctx context.Context) error {
	settled, err := w.settle(ctx, quiet)
	if err == nil && !settled {
		w.checks.violate("every wait ends", "the last write was at %s", w.lastWrite.UTC().Format(time.TimeOnly))
	}
	return err
}
