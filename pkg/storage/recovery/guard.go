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

// observeTimeout is how long the store may take to say how far it is, before the last answer is taken for good.
const observeTimeout = time.Second

// ErrStoreReplaced is why a server ends: what it serves from is not any more what it was. Its start finds out what is
// to be done.
var ErrStoreReplaced = errors.New("the store was replaced or rolled back while it was served from")

// Guard watches over the store that is served from, and tells the cluster how far it is.
type Guard struct {
	store *Store
	// fail ends the server.
	fail context.CancelCauseFunc

	// observing lets one look at the store at a time: their answers may not overtake each other.
	observing sync.Mutex
	// mu is held for no longer than it takes to read or write these.
	mu   sync.RWMutex
	last Position
	err  error
}

// newGuard returns a guard of a store that is served from since the position.
func newGuard(store *Store, since Position, fail context.CancelCauseFunc) *Guard {
	return &Guard{store: store, fail: fail, last: since}
}

// Run looks at the store once in a period until ctx is done.
func (g *Guard) Run(ctx context.Context, period time.Duration) {
	wait.UntilWithContext(ctx, func(ctx context.Context) { g.observe(ctx) }, period)
}

// observe returns how far the store is, or was last where it does not answer in time.
func (g *Guard) observe(ctx context.Context) Position {
	g.observing.Lock()
	defer g.observing.Unlock()
	ctx, cancel := context.WithTimeout(ctx, observeTimeout)
	defer cancel()
	position, err := g.store.Position(ctx)
	g.mu.Lock()
	defer g.mu.Unlock()
	if err != nil {
		klog.FromContext(ctx).V(2).Info("The store does not say how far it is", "err", err)
		return g.last
	}
	switch {
	case position.Identity.UID != g.last.Identity.UID || position.Identity.Recovery != nil:
		g.failLocked(fmt.Errorf("%w: its identity is %q and was %q", ErrStoreReplaced, position.Identity.UID, g.last.Identity.UID))
	// What is restored from a snapshot may have a later revision.
	case position.Cluster != g.last.Cluster:
		g.failLocked(fmt.Errorf("%w: it is in etcd cluster %x and was in %x", ErrStoreReplaced, position.Cluster, g.last.Cluster))
	case position.Revision < g.last.Revision:
		g.failLocked(fmt.Errorf("%w: its revision is %d and was %d", ErrStoreReplaced, position.Revision, g.last.Revision))
	default:
		g.last = position
	}
	return g.last
}

// Mark tells the cluster, by a Lease that is about to be written, how far the store is.
func (g *Guard) Mark(ctx context.Context, lease *coordinationv1.Lease) {
	setMark(lease, g.observe(ctx))
}

// Verify returns an error, and ends the server, when the Lease is of a server on another store.
func (g *Guard) Verify(lease *coordinationv1.Lease) error {
	mark, err := markOf(lease)
	if err != nil {
		return err
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if own := g.last.Identity.UID; g.err == nil && mark.Store != "" && mark.Store != own {
		g.failLocked(fmt.Errorf("%w: Lease %s/%s says that the cluster's store is %s, and this one is %s",
			ErrStoreReplaced, lease.Namespace, lease.Name, mark.Store, own))
	}
	return g.err
}

// Err returns why the server ends, nil while there is no reason.
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
