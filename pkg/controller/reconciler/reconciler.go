// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

// Package reconciler runs the workers of a controller, and measures what they do.
package reconciler

import (
	"context"
	"errors"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/klog/v2"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/cachehealth"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/children"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/queue"
)

// Reconciler reconciles the objects in a queue. Every field is required.
type Reconciler struct {
	// Name is that of the controller, Noun what logs call an object.
	Name, Noun string

	Queue *queue.Queue
	// Caches have to be synced before anything is reconciled.
	Caches *cachehealth.Dependencies
	// ConcurrentSyncs is how many objects are reconciled at the same time.
	ConcurrentSyncs int
	Metrics         *Metrics

	// Reconcile brings one object nearer to what it says. It returns after how long to requeue it although nothing
	// happens, 0 for not at all, and an error to be tried again after a delay.
	Reconcile func(ctx context.Context, key types.NamespacedName) (time.Duration, error)
	// TellPanic says in the status and in an event of the object that Reconcile panicked.
	TellPanic func(ctx context.Context, key types.NamespacedName, failure *PanicError) error
}

// Run reconciles until ctx is done. It calls synced when the caches have synced. When it returns, the last write is done. It
// returns an error, before ctx is done, when it cannot work: cachehealth.ErrCacheNotSynced when another server may be able
// to.
func (r *Reconciler) Run(ctx context.Context, synced func()) error {
	defer utilruntime.HandleCrashWithContext(ctx)
	defer r.Queue.ShutDown()
	logger := klog.FromContext(ctx).WithName(r.Name)
	ctx = klog.NewContext(ctx, logger)

	ctx, giveUp := context.WithCancelCause(ctx)
	var watching sync.WaitGroup
	defer watching.Wait()
	defer giveUp(nil)
	watching.Go(func() {
		if err := r.Caches.Watch(ctx); err != nil {
			giveUp(err)
		}
	})
	if !r.Caches.WaitForSync(ctx) {
		return unableToWork(ctx)
	}
	synced()
	logger.Info("Reconciling", "workers", r.ConcurrentSyncs)

	var running sync.WaitGroup
	for range r.ConcurrentSyncs {
		running.Go(func() {
			for r.ReconcileNext(ctx) {
			}
		})
	}
	<-ctx.Done()
	r.Queue.ShutDown()
	running.Wait()
	logger.Info("Stopped reconciling")
	return unableToWork(ctx)
}

// unableToWork returns why the controller itself ended its context, nil where somebody else did.
func unableToWork(ctx context.Context) error {
	if cause := context.Cause(ctx); errors.Is(cause, cachehealth.ErrCacheNotSynced) {
		return cause
	}
	return nil
}

// ReconcileNext reconciles the next object of the queue, and waits for one. It returns false when the queue is shut down.
func (r *Reconciler) ReconcileNext(ctx context.Context) bool {
	key, shutdown := r.Queue.Get()
	if shutdown {
		return false
	}
	defer r.Queue.Done(key)
	if ctx.Err() != nil {
		return true
	}

	logger := klog.FromContext(ctx).WithValues(r.Noun, key)
	begin := time.Now()
	again, err := r.ReconcileSafely(klog.NewContext(ctx, logger), key)
	r.Metrics.reconciled(begin, again, err)
	switch {
	case err != nil && ctx.Err() == nil:
		if !children.IsExpected(err) {
			logger.Error(err, "Reconciling failed, will be tried again", "failures", r.Queue.NumRequeues(key)+1)
		}
		r.Queue.AddRateLimited(key)
	default:
		r.Queue.Forget(key)
	}
	if again > 0 {
		r.Queue.AddAfter(key, again)
	}
	return true
}

// Soonest returns the shortest of some times to requeue after, where 0 is not at all.
func Soonest(delays ...time.Duration) time.Duration {
	var shortest time.Duration
	for _, delay := range delays {
		if delay > 0 && (shortest == 0 || delay < shortest) {
			shortest = delay
		}
	}
	return shortest
}
