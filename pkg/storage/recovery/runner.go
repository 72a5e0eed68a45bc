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
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apiserver/pkg/registry/generic"
	"k8s.io/apiserver/pkg/storage/storagebackend"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/metadata"
	"k8s.io/klog/v2"
	"k8s.io/utils/clock"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/storage/corruptobject"
)

// Policy says what is done about a store that has less than the cluster knows of.
type Policy string

const (
	// Recover brings it up to date from what is recorded in the cluster.
	Recover Policy = "recover"
	// Refuse does not serve from it.
	Refuse Policy = "refuse"
	// Ignore serves from it as it is. Applications whose boxes it does not have are deleted by the cluster.
	Ignore Policy = "ignore"
)

const (
	// retryPeriod is how often the runner checks again whether the server may serve.
	retryPeriod = time.Second
	// lockSeconds is how long other servers wait for a server that died while it recovered the store.
	lockSeconds = 15
)

// Config is the configuration of a Runner.
type Config struct {
	Policy Policy
	// Transport leads to the store, Boxes to the boxes, Stacks to the stacks and Networks to the networks in it.
	Transport storagebackend.TransportConfig
	Boxes     generic.RESTOptions
	Stacks    generic.RESTOptions
	Networks  generic.RESTOptions
	// Corrupt knows which objects cannot be read, and isolates the storage of the others.
	Corrupt *corruptobject.Tracker
	// IsExclusive is whether only this process can use the store.
	IsExclusive bool

	// Cluster is the cluster's client, and Children the one that reads children.
	Cluster  kubernetes.Interface
	Children metadata.Interface
	// Lease is the Lease of leader election, by which the cluster knows the store. Empty if there is none.
	Lease types.NamespacedName
	// Holder is the name of this process on the Lease.
	Holder string
	// ObservePeriod is how often the runner checks whether the store is still the same.
	ObservePeriod time.Duration
}

// Runner lets the server serve once its store has everything that the cluster knows of.
type Runner struct {
	Config
	liveness liveness
	// fail ends the server.
	fail context.CancelCauseFunc
	done chan struct{}

	// withheld are the absent owners of the store.
	withheld withheld

	mu    sync.RWMutex
	err   error
	guard *Guard
}

// NewRunner returns one that has to be Run. fail is called when the server has to end.
func NewRunner(config Config, fail context.CancelCauseFunc) *Runner {
	return &Runner{
		Config:   config,
		liveness: liveness{clock: clock.RealClock{}},
		fail:     fail,
		done:     make(chan struct{}),
		err:      errors.New("the store was not looked at yet"),
	}
}

// Done returns a channel that is closed when the store may be served from.
func (r *Runner) Done() <-chan struct{} { return r.done }

// Decorator returns what caches the storage from when it may be served from.
func (r *Runner) Decorator() generic.StorageDecorator {
	return refuseFutureWatches(r.withheld.decorate(storageWithCacher(r.done, r.Corrupt)))
}

// UncachedDecorator is Decorator for a server without a watch cache.
func (r *Runner) UncachedDecorator() generic.StorageDecorator {
	return refuseFutureWatches(r.withheld.decorate(r.Corrupt.UndecoratedStorage))
}

// Name implements healthz.HealthChecker.
func (*Runner) Name() string { return "store-recovery" }

// Check returns why the store may not be served from, nil when it may.
func (r *Runner) Check(*http.Request) error {
	r.mu.RLock()
	defer r.mu.RUnlock()
	if r.guard != nil {
		return r.guard.Err()
	}
	return r.err
}

// Mark implements the Marker of leader election.
func (r *Runner) Mark(ctx context.Context, lease *coordinationv1.Lease) { r.guard.Mark(ctx, lease) }

// Verify implements the Marker of leader election.
func (r *Runner) Verify(lease *coordinationv1.Lease) error { return r.guard.Verify(lease) }

// Run looks at the store until it may be served from, and then whether it stays the same, until ctx is done.
func (r *Runner) Run(ctx context.Context) error {
	store, err := Open(r.Transport, r.Boxes.StorageConfig.Prefix)
	if err != nil {
		return err
	}
	defer store.Close()
	contents, err := openContents(store, &r.Config)
	if err != nil {
		return err
	}
	defer contents.close()
	served, err := r.untilServed(ctx, store, contents)
	if err != nil {
		return nil // ctx is done
	}
	guard := newGuard(store, served, r.fail)
	r.mu.Lock()
	r.guard = guard
	r.mu.Unlock()
	close(r.done)
	go r.withheld.keepVerifying(ctx, store, contents, &cluster{kube: r.Cluster, metadata: r.Children})
	guard.Run(ctx, r.ObservePeriod)
	return nil
}

// untilServed returns the position that the store is served from. The error is the error of ctx.
func (r *Runner) untilServed(ctx context.Context, store *Store, contents *contents) (Position, error) {
	logger := klog.FromContext(ctx)
	said := ""
	for {
		attempt := attempt{Runner: r, store: store, contents: contents}
		position, err := attempt.run(ctx)
		if err == nil {
			r.withheld.set(attempt.absent)
			return position, nil
		}
		if err.Error() != said {
			said = err.Error()
			logger.Error(err, "The store cannot be served from yet")
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
