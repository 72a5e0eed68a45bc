// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package recovery

import (
	"context"
	"errors"
	"net/http"
	"sync"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	"k8s.io/apiserver/pkg/registry/generic"
	"k8s.io/klog/v2"
	"k8s.io/utils/clock"
)

// Policy is the action for a store that is Empty, Behind or Foreign.
type Policy string

const (
	// Recover updates the store from the records in the cluster, and serves from it.
	Recover Policy = "recover"
	// Refuse serves nothing, and reports the difference.
	Refuse Policy = "refuse"
	// Ignore serves from the store without a change. The cluster deletes applications whose boxes the store does not have.
	Ignore Policy = "ignore"
)

const (
	// retryPeriod is the time between two attempts to serve from the store.
	retryPeriod = time.Second
	// lockSeconds is the TTL of the lock of the store: other servers wait so long if a server dies during the recovery.
	lockSeconds = 15
)

// Runner recovers the store before the server serves from it, and afterwards checks that the store is not replaced.
type Runner struct {
	Config
	liveness liveness
	// fail stops the server.
	fail context.CancelCauseFunc
	done chan struct{}

	// refused has the absent owners of the store.
	refused refusedOwners

	mu    sync.RWMutex
	err   error
	guard *Guard
}

// NewRunner returns a Runner. Call its Run. The Runner calls fail if the server must stop.
func NewRunner(config Config, fail context.CancelCauseFunc) *Runner {
	return &Runner{
		Config:   config,
		liveness: liveness{clock: clock.RealClock{}},
		fail:     fail,
		done:     make(chan struct{}),
		err:      errors.New("the store is not checked yet"),
	}
}

// Done returns a channel that is closed when the store is ready to serve from.
func (r *Runner) Done() <-chan struct{} { return r.done }

// Decorator returns a decorator that adds a watch cache to storage. The cache is filled after Done is closed.
func (r *Runner) Decorator() generic.StorageDecorator {
	return refuseFutureWatches(r.refused.decorate(storageWithCacher(r.done, r.Corrupt)))
}

// UncachedDecorator is like Decorator, without a watch cache.
func (r *Runner) UncachedDecorator() generic.StorageDecorator {
	return refuseFutureWatches(r.refused.decorate(r.Corrupt.UndecoratedStorage))
}

// Name implements healthz.HealthChecker.
func (*Runner) Name() string { return "store-recovery" }

// Check implements healthz.HealthChecker. It returns nil if the store is ready to serve from, and otherwise the reason why not.
func (r *Runner) Check(*http.Request) error {
	r.mu.RLock()
	defer r.mu.RUnlock()
	if r.guard != nil {
		return r.guard.Err()
	}
	return r.err
}

// Mark implements leaderelection.Marker. It must be called after Done is closed.
func (r *Runner) Mark(ctx context.Context, lease *coordinationv1.Lease) { r.guard.Mark(ctx, lease) }

// Verify implements leaderelection.Marker. It must be called after Done is closed.
func (r *Runner) Verify(lease *coordinationv1.Lease) error { return r.guard.Verify(lease) }

// Run checks and recovers the store until it is ready to serve from. Then it checks that the store stays the same, until ctx is
// done. It returns an error if it cannot open the store, and nil if ctx is done.
func (r *Runner) Run(ctx context.Context) error {
	client, err := r.NewClient()
	if err != nil {
		return err
	}
	store := newStore(client, r.Boxes.StorageConfig.Prefix)
	defer store.Close()
	contents, err := openContents(store, &r.Config)
	if err != nil {
		return err
	}
	defer contents.close()
	served, err := r.waitUntilServable(ctx, store, contents)
	if err != nil {
		return nil // ctx is done
	}
	guard := newGuard(store, served, r.fail)
	r.mu.Lock()
	r.guard = guard
	r.mu.Unlock()
	close(r.done)
	go r.refused.keepUpdating(ctx, store, contents, &cluster{kube: r.KubeClient, metadata: r.MetadataClient})
	guard.Run(ctx, r.ObservePeriod)
	return nil
}

// waitUntilServable retries until the store is ready, and returns its position then. It returns an error only if ctx is done.
func (r *Runner) waitUntilServable(ctx context.Context, store *Store, contents *contents) (Position, error) {
	logger := klog.FromContext(ctx)
	logged := ""
	for {
		attempt := attempt{Runner: r, store: store, contents: contents}
		position, err := attempt.run(ctx)
		if err == nil {
			r.refused.set(attempt.absent)
			return position, nil
		}
		if err.Error() != logged {
			logged = err.Error()
			logger.Error(err, "Cannot serve from the store yet")
		}
		r.mu.Lock()
		r.err = err
		r.mu.Unlock()
		select {
		case <-ctx.Done():
			return Position{}, ctx.Err()
		case <-time.After(retryPeriod):
		}
	}
}
