// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package supervisor

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync/atomic"
	"time"
)

const (
	firstBackoff = 250 * time.Millisecond
	lastBackoff  = 8 * time.Second
	// The pause between restarts is reset after a part has run for this time.
	healthyLifetime = 30 * time.Second
)

// keeper keeps one part running until it is stopped.
type keeper struct {
	supervisor *Supervisor
	part       Part

	// established is true after the part was ready for the first time. If the part ends before, its start has failed. If it ends
	// later, it is restarted.
	established atomic.Bool
	diedEarly   chan struct{} // closed if the part ends before that; earlyDeath is the reason
	earlyDeath  string

	restarts chan chan struct{} // requests a restart; the inner channel is closed when it is done
	ending   chan struct{}      // closed to ask for the end
	ended    chan struct{}      // closed when no process is left
}

// keep starts a part and keeps it running in the background.
func (s *Supervisor) keep(part Part) (*keeper, error) {
	child, err := s.launch(part)
	if err != nil {
		return nil, err
	}
	k := &keeper{
		supervisor: s,
		part:       part,
		diedEarly:  make(chan struct{}),
		restarts:   make(chan chan struct{}),
		ending:     make(chan struct{}),
		ended:      make(chan struct{}),
	}
	s.mu.Lock()
	s.parts = append(s.parts, k)
	s.mu.Unlock()

	go k.loop(child)
	return k, nil
}

func (k *keeper) loop(child *process) {
	defer close(k.ended)
	backoff := firstBackoff
	for {
		select {
		case <-k.ending:
			child.terminate(k.part.StopGrace)
			_ = os.Remove(k.supervisor.pidFile(k.part.Name))
			return

		case relaunched := <-k.restarts:
			child.terminate(k.part.StopGrace)
			child = k.relaunch(0)
			close(relaunched)

		case <-child.exited:
			if !k.established.Load() {
				k.earlyDeath = child.outcome()
				close(k.diedEarly)
				<-k.ending
				return
			}
			if time.Since(child.started) > healthyLifetime {
				backoff = firstBackoff
			}
			k.supervisor.announce(fmt.Sprintf("%s ended unexpectedly (%s), restarting it", k.part.Name, child.outcome()))
			child = k.relaunch(backoff)
			backoff = min(2*backoff, lastBackoff)
		}
		if child == nil {
			return
		}
	}
}

// relaunch starts the part again after a pause, and retries until it is started. It returns nil if the part is stopped meanwhile.
func (k *keeper) relaunch(pause time.Duration) *process {
	for {
		select {
		case <-k.ending:
			return nil
		case <-time.After(pause):
		}
		child, err := k.supervisor.launch(k.part)
		if err == nil {
			return child
		}
		k.supervisor.announce(fmt.Sprintf("%s cannot be restarted: %v", k.part.Name, err))
		pause = lastBackoff
	}
}

func (k *keeper) awaitFirstReady(ctx context.Context) error {
	if err := k.awaitReady(ctx); err != nil {
		return err
	}
	k.established.Store(true)
	select {
	case <-k.diedEarly:
		return k.earlyDeathError()
	default:
		return nil
	}
}

func (k *keeper) awaitReady(ctx context.Context) error {
	if k.part.Ready == nil {
		return nil
	}
	for {
		err := k.part.Ready(ctx)
		if err == nil {
			return nil
		}
		select {
		case <-k.diedEarly:
			return k.earlyDeathError()
		case <-k.ending:
			return errors.New("told to stop before it was ready")
		case <-ctx.Done():
			return fmt.Errorf("not ready (%w): %w", context.Cause(ctx), err)
		case <-time.After(readyPollInterval):
		}
	}
}

func (k *keeper) earlyDeathError() error {
	return fmt.Errorf("ended before it was ready (%s)", k.earlyDeath)
}

func (k *keeper) restart(ctx context.Context) error {
	relaunched := make(chan struct{})
	select {
	case k.restarts <- relaunched:
	case <-ctx.Done():
		return fmt.Errorf("asking for a restart: %w", context.Cause(ctx))
	case <-k.ended:
		return errors.New("asking for a restart: it was stopped")
	}
	<-relaunched
	return k.awaitReady(ctx)
}

func (k *keeper) end() {
	close(k.ending)
	<-k.ended
}
