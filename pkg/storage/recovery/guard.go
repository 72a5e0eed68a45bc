// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package recovery

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/klog/v2"
)

// observeTimeout is the timeout for reading the position of the store. After it, the guard uses the last known position.
const observeTimeout = time.Second

// ErrStoreReplaced is returned when the store was replaced or rolled back while the server served from it. The server stops. Its
// next start compares the store with the Lease again.
var ErrStoreReplaced = errors.New("the store was replaced or rolled back while the server served from it")

// Guard checks that the store is not replaced while the server serves from it, and records its revision on the Lease.
type Guard struct {
	store *Store
	// fail stops the server.
	fail context.CancelCauseFunc

	// observeMu serializes the reads of the position, so that a later response is never compared with an earlier one.
	observeMu sync.Mutex
	// mu guards last and err. It is never held during a request.
	mu   sync.RWMutex
	last Position
	err  error
}

// newGuard returns a guard for a store that the server serves from since the position.
func newGuard(store *Store, since Position, fail context.CancelCauseFunc) *Guard {
	return &Guard{store: store, fail: fail, last: since}
}

// Run checks the store once a period until ctx is done.
func (g *Guard) Run(ctx context.Context, period time.Duration) {
	wait.UntilWithContext(ctx, func(ctx context.Context) { g.observe(ctx) }, period)
}

// observe reads the position of the store, and stops the server if the store was replaced. It returns the last known position if
// the store does not respond in time.
func (g *Guard) observe(ctx context.Context) Position {
	g.observeMu.Lock()
	defer g.observeMu.Unlock()
	ctx, cancel := context.WithTimeout(ctx, observeTimeout)
	defer cancel()
	position, err := g.store.Position(ctx)
	g.mu.Lock()
	defer g.mu.Unlock()
	if err != nil {
		klog.FromContext(ctx).V(2).Info("Cannot read the revision of the store", "err", err)
		return g.last
	}
	switch {
	case position.Identity.UID != g.last.Identity.UID || position.Identity.Recovery != nil:
		g.failLocked(fmt.Errorf("%w: its identity was %q and is now %q", ErrStoreReplaced, g.last.Identity.UID, position.Identity.UID))
	// A store that is restored from a snapshot may have a later revision.
	case position.ClusterID != g.last.ClusterID:
		g.failLocked(fmt.Errorf("%w: its etcd cluster was %x and is now %x", ErrStoreReplaced, g.last.ClusterID, position.ClusterID))
	case position.Revision < g.last.Revision:
		g.failLocked(fmt.Errorf("%w: its revision was %d and is now %d", ErrStoreReplaced, g.last.Revision, position.Revision))
	default:
		g.last = position
	}
	return g.last
}

// Mark records the store and its revision on a Lease before the Lease is written.
func (g *Guard) Mark(ctx context.Context, lease *coordinationv1.Lease) {
	setMark(lease, g.observe(ctx))
}

// Verify stops the server and returns an error if the Lease names another store.
func (g *Guard) Verify(lease *coordinationv1.Lease) error {
	mark, err := markOf(lease)
	if err != nil {
		return err
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if own := g.last.Identity.UID; g.err == nil && mark.Store != "" && mark.Store != own {
		g.failLocked(fmt.Errorf("%w: Lease %s/%s names store %s, and the server serves from store %s",
			ErrStoreReplaced, lease.Namespace, lease.Name, mark.Store, own))
	}
	return g.err
}

// Err returns the error that stops the server, nil if there is none.
func (g *Guard) Err() error {
	g.mu.RLock()
	defer g.mu.RUnlock()
	return g.err
}

func (g *Guard) failLocked(err error) {
	if g.err == nil {
		g.err = err
		g.fail(err)
	}
}
