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

// revisionMargin is an upper bound for the number of writes to the store between two renewals of the Lease, which has the revision
// of the last renewal. A recovery takes at least so many writes, therefore tests lower it.
var revisionMargin int64 = 10_000

const (
	// maxRaiseByWriting is the largest difference of revisions that is raised by writes, at some thousand writes a second. For a
	// larger difference, an embedded etcd is raised while it is not running.
	maxRaiseByWriting = 100_000
	// maxRaiseExternal is the same for an external etcd, which the server cannot stop: about half an hour of writes. The revision
	// is not raised by a larger difference.
	maxRaiseExternal = 10_000_000

	concurrentPuts = 256
	raiseLogPeriod = 10 * time.Second
)

// RaiseRevisionError is returned when the revision of the embedded etcd must be raised further than writes can raise it in
// reasonable time. The server stops, and raises the revision while the etcd is not running. Its next start continues with the
// recovery.
type RaiseRevisionError struct {
	// To is the revision to raise the store to.
	To int64
}

// Error implements error.
func (e *RaiseRevisionError) Error() string {
	return fmt.Sprintf("the revision of the store must be raised to %d while the store is not running: start the server again", e.To)
}

// raisedRevision returns the revision to raise a recovered store to, 0 if the mark has no revision.
func raisedRevision(mark Mark) int64 {
	if mark.Revision == 0 {
		return 0
	}
	return mark.Revision + revisionMargin
}

// raise increases the revision of the store to the given revision in the fastest way. It does not change the revision of an
// external etcd if the difference is too large: until the store reaches the revisions that clients have seen, each of these clients
// has got 410 Expired and listed again.
func (a *attempt) raise(ctx context.Context, to int64) error {
	from := a.position.Revision
	switch {
	case a.IsExclusive && to-from > maxRaiseByWriting:
		err := &RaiseRevisionError{To: to}
		a.fail(err)
		return err
	case to-from > maxRaiseExternal:
		klog.FromContext(ctx).Info("The former store had a revision that is too high to reach by writes. The store continues from its own revision. "+
			"The server answers watches from a later revision with 410 Expired, so that clients list again", "revision", from, "before", to)
		return nil
	default:
		return a.store.raise(ctx, from, to)
	}
}

// raise increases the revision of the store past all revisions that clients have seen. Clients that watch from a later revision
// than the revision of the store would otherwise get no events until the store reaches it.
func (s *Store) raise(ctx context.Context, from, to int64) error {
	if from >= to {
		return nil
	}
	klog.FromContext(ctx).Info("Raising the revision of the store", "from", from, "to", to)
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var reached atomic.Int64
	var putting sync.WaitGroup
	for range concurrentPuts {
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
	progress := time.NewTicker(raiseLogPeriod)
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
