// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

// Package reconciler runs the workers of a controller, and measures what they do.
package reconciler

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/cachehealth"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/children"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/queue"
)

// Reconciler reconciles the objects in a queue, for a controller that embeds it. Every field is required.
type Reconciler struct {
	// Controller is its name, Noun what logs call an object.
	Controller, Noun string

	Queue *queue.Queue
	// Caches have to be synced before anything is reconciled.
	Caches *cachehealth.Dependencies
	// ConcurrentSyncs is how many objects are reconciled at the same time.
	ConcurrentSyncs int
	Metrics         *Metrics

	// Reconcile brings one object nearer to what it says. It returns after how long to requeue it although nothing
	// happens, 0 for not at all, and an error to be tried again after a delay.
	Reconcile func(ctx context.Context, key types.NamespacedName) (time.Duration, error)
	// ReportPanic says in the status and in an event of the object that Reconcile panicked.
	ReportPanic func(ctx context.Context, key types.NamespacedName, failure *PanicError) error
}

// Name is what the controller is called.
func (r *Reconciler) Name() string { return r.Controller }

// CheckHealth returns why the controller cannot work, nil when it can, or when nothing is wrong so far.
func (r *Reconciler) CheckHealth() error { return r.Caches.CheckHealth() }

// HasSynced returns whether every cache has synced that the controller needs.
func (r *Reconciler) HasSynced() bool { return r.Caches.HasSynced() }

// DependFunc is AddRequired or AddOptional of cachehealth.Dependencies.
type DependFunc func(resource schema.GroupResource, informer cache.SharedIndexInformer, handlerHasSynced cache.InformerSynced) error

// Watch lets the handler, which is one of the queue's, know what the informer reports, and makes the informer's cache one that
// the controller depends on.
func (r *Reconciler) Watch(resource schema.GroupResource, dependOn DependFunc, informer cache.SharedIndexInformer, handler cache.ResourceEventHandler) error {
	registration, err := informer.AddEventHandler(handler)
	if err != nil {
		return fmt.Errorf("watching %s: %w", resource, err)
	}
	return dependOn(resource, informer, registration.HasSynced)
}

// Run reconciles until ctx is done. It calls synced when the caches have synced. When it returns, the last write is done. It
// returns an error, before ctx is done, when it cannot work: cachehealth.ErrCacheNotSynced when another server may be able
// to.
func (r *Reconciler) Run(ctx context.Context, synced func()) error {
	defer utilruntime.HandleCrashWithContext(ctx)
	defer r.Queue.ShutDown()
	logger := klog.FromContext(ctx).WithName(r.Controller)
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

// unableToWork returns why the controller itself ended its context, nil if the caller ended it.
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
	traced, end := startSpan(klog.NewContext(ctx, logger), r.Controller, key)
	again, err := r.ReconcileSafely(traced, key)
	end(err)
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
