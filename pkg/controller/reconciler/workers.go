// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package reconciler

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/cachehealth"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/children"
)

// Name is what the controller is called.
func (f *For[T, S]) Name() string { return f.Controller }

// CheckHealth returns why the controller cannot work, nil when it can, or when nothing is wrong so far.
func (f *For[T, S]) CheckHealth() error { return f.Caches.CheckHealth() }

// HasSynced returns whether every cache has synced that the controller needs.
func (f *For[T, S]) HasSynced() bool { return f.Caches.HasSynced() }

// DependFunc is AddRequired or AddOptional of cachehealth.Dependencies.
type DependFunc func(resource schema.GroupResource, informer cache.SharedIndexInformer, handlerHasSynced cache.InformerSynced) error

// Watch lets the handler, which is one of the queue's, know what the informer reports, and makes the informer's cache one that
// the controller depends on.
func (f *For[T, S]) Watch(resource schema.GroupResource, dependOn DependFunc, informer cache.SharedIndexInformer, handler cache.ResourceEventHandler) error {
	registration, err := informer.AddEventHandler(handler)
	if err != nil {
		return fmt.Errorf("watching %s: %w", resource, err)
	}
	return dependOn(resource, informer, registration.HasSynced)
}

// Run reconciles until ctx is done. The informers have to be started by then, or soon. When it returns, the last write is done. It
// returns an error, before ctx is done, when it cannot work: cachehealth.ErrCacheNotSynced when another server may be able to.
func (f *For[T, S]) Run(ctx context.Context) error {
	if f.Status != nil {
		defer f.Metrics.Objects.Hide()
	}
	if f.Wait != nil {
		defer f.Wait()
	}
	return f.run(ctx)
}

func (f *For[T, S]) run(ctx context.Context) error {
	defer utilruntime.HandleCrashWithContext(ctx)
	defer f.Queue.ShutDown()
	logger := klog.FromContext(ctx).WithName(f.Controller)
	ctx = klog.NewContext(ctx, logger)

	ctx, giveUp := context.WithCancelCause(ctx)
	var watching sync.WaitGroup
	defer watching.Wait()
	defer giveUp(nil)
	watching.Go(func() {
		if err := f.Caches.Watch(ctx); err != nil {
			giveUp(err)
		}
	})
	if !f.Caches.WaitForSync(ctx) {
		return unableToWork(ctx)
	}
	if f.Status != nil {
		f.Metrics.Objects.Show(f.ListConditions)
	}
	logger.Info("Reconciling", "workers", f.ConcurrentSyncs)

	var running sync.WaitGroup
	for range f.ConcurrentSyncs {
		running.Go(func() {
			for f.ReconcileNext(ctx) {
			}
		})
	}
	<-ctx.Done()
	f.Queue.ShutDown()
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
func (f *For[T, S]) ReconcileNext(ctx context.Context) bool {
	key, shutdown := f.Queue.Get()
	if shutdown {
		return false
	}
	defer f.Queue.Done(key)
	if ctx.Err() != nil {
		return true
	}

	logger := klog.FromContext(ctx).WithValues(f.Noun, key)
	begin := time.Now()
	traced, end := startSpan(klog.NewContext(ctx, logger), f.Controller, key)
	again, err := f.ReconcileSafely(traced, key)
	end(err)
	f.Metrics.reconciled(begin, again, err)
	switch {
	case err != nil && ctx.Err() == nil:
		if !children.IsExpected(err) {
			logger.Error(err, "Reconciling failed, will be tried again", "failures", f.Queue.NumRequeues(key)+1)
		}
		f.Queue.AddRateLimited(key)
	default:
		f.Queue.Forget(key)
	}
	if again > 0 {
		f.Queue.AddAfter(key, again)
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
