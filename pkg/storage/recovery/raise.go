// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package recovery

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"k8s.io/klog/v2"
)

// revisionMargin is more than what is written to a store between two renewals of the Lease, which knows of no later revision. Tests
// lower it: it is how many writes a recovery takes.
var revisionMargin int64 = 10_000

const (
	// maxRaiseByWriting is how much of a difference is made up for by writing, some thousand times a second. A store that
	// can be stopped is raised while it is not running where it is more.
	maxRaiseByWriting = 100_000
	// maxRaiseOutside is the same of a store that others may use, which the server cannot stop: half an hour or so. One that is
	// further behind is not raised.
	maxRaiseOutside = 10_000_000

	putsAtOnce    = 256
	raiseLogEvery = 10 * time.Second
)

// RaiseRevisionError is why a server ends: the store has to be raised to a revision, which takes a moment while it is not
// running and very long while it is. The next start goes on with the recovery.
type RaiseRevisionError struct {
	To int64
}

// Error implements error.
func (e *RaiseRevisionError) Error() string {
	return fmt.Sprintf("the revision of the store has to be raised to %d while it is not running: start the server again", e.To)
}

// raisedRevision is what the revision of the store has to be raised to, 0 where the cluster knows of none.
func raisedRevision(mark Mark) int64 {
	if mark.Revision == 0 {
		return 0
	}
	return mark.Revision + revisionMargin
}

// raise raises the revision of the store in the way that takes the least time. A store that others may use, and that is too far
// behind, keeps its own: it takes so many writes to come to what clients have seen that each of them has been told to list again
// by then.
func (a *attempt) raise(ctx context.Context, to int64) error {
	from := a.position.Revision
	switch {
	case a.IsExclusive && to-from > maxRaiseByWriting:
		err := &RaiseRevisionError{To: to}
		a.fail(err)
		return err
	case to-from > maxRaiseOutside:
		klog.FromContext(ctx).Info("The store before counted too far to be reached by writing, and this one goes on from its own revision. "+
			"Watches that begin at a later one are answered with 410 Expired, so that clients list again", "revision", from, "before", to)
		return nil
	default:
		return a.store.raise(ctx, from, to)
	}
}

// raise lets the store count on from a revision that is above what any client has seen. Clients that watch from what
// they saw last would otherwise see nothing until the store has come there again.
func (s *Store) raise(ctx context.Context, from, to int64) error {
	if from >= to {
		return nil
	}
	klog.FromContext(ctx).Info("Raising the revision of the store", "from", from, "to", to)
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var reached atomic.Int64
	var putting sync.WaitGroup
	for range putsAtOnce {
		putting.Go(func() {
			for ctx.Err() == nil && reached.Load() < to {
				response, err := s.client.Put(ctx, s.key("revision"), "")
				if err != nil {
					cancel(fmt.Errorf("raising the revision of the store: %w", err))
					return
				}
				reached.Store(max(reached.Load(), response.Header.Revision))
			}
		})
	}
	progress := time.NewTicker(raiseLogEvery)
	defer progress.Stop()
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		putting.Wait()
	}()
	for {
		select {
		case <-progress.C:
			klog.FromContext(ctx).Info("Still raising the revision of the store", "at", reached.Load(), "to", to)
		case <-ended:
			return context.Cause(ctx)
		}
	}
}
