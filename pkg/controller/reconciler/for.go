// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

// Package reconciler has everything that the controllers do alike. A controller embeds For, which runs its workers, and gives it the
// functions that are about its own kind.
package reconciler

import (
	"context"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/events"
	"k8s.io/klog/v2"
	"k8s.io/utils/clock"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apply"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/cachehealth"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/consistency"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/message"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/queue"
)

// StaleCacheRetry is after how long an object is requeued that a cache does not show as it is.
const StaleCacheRetry = 50 * time.Millisecond

// Object is implemented by the objects of a kind.
type Object[T any] interface {
	metav1.Object
	runtime.Object
	DeepCopy() T
}

// Config is what a controller supplies. A field that may be nil says so, and every other field is required.
type Config[T Object[T], S any] struct {
	// Controller is its name, Noun what messages call an object.
	Controller, Noun string
	// Resource is the resource of the objects.
	Resource schema.GroupResource

	// ConcurrentSyncs is how many objects are reconciled at the same time, at most half of them, and at least one, from one
	// namespace.
	ConcurrentSyncs int
	// CacheHealth checks the caches that the controller depends on.
	CacheHealth *cachehealth.Monitor
	// Consistency knows what was written for an object. An object is reconciled when the caches show it.
	Consistency *consistency.Store
	Metrics     *Metrics
	Recorder    events.EventRecorder
	Clock       clock.PassiveClock

	// Get reads an object from the cache.
	Get func(namespace, name string) (T, error)
	// Client writes the objects of a namespace. Nil: they are never written.
	Client func(namespace string) Client[T]
	// Status is about the status of an object. Nil: the controller does not write one.
	Status *Status[T, S]

	// Reconcile brings one object nearer to what it says. The object is the cache's own, and must not be changed. It returns after
	// how long to requeue the object although nothing happens, 0 for not at all, and an error to be tried again after a delay. There
	// may be both.
	Reconcile func(ctx context.Context, object T) (time.Duration, error)
	// ReconcileDeletion is Reconcile of an object that is being deleted. Nil: there is nothing to do about it.
	ReconcileDeletion func(ctx context.Context, object T) (time.Duration, error)
	// ObserveDeletion is called when an object is gone. It may be nil.
	ObserveDeletion func(ctx context.Context, key types.NamespacedName) error

	// Memories remember something of each object. They forget an object that is gone.
	Memories []Forgetter
	// ForgetChildren drops what is remembered of the children of an object that is being deleted or gone. It may be nil.
	ForgetChildren func(key types.NamespacedName)
	// RecordPanic records the event of a panic. Nil: it is a warning with the reason Error.
	RecordPanic func(object T, failure *PanicError)
	// Wait returns when the requests have ended that reconciles have left running. It may be nil.
	Wait func()
}

// For reconciles the objects of a kind T with a status S. A controller embeds it, and adds its watches.
type For[T Object[T], S any] struct {
	Config[T, S]

	Queue *queue.Queue
	// Caches have to be synced before anything is reconciled.
	Caches *cachehealth.Dependencies
	Pace   *StatusPace

	unwritten *Memory[unwrittenStatus[S]]
}

// New returns what reconciles nothing until Run.
func New[T Object[T], S any](config Config[T, S]) *For[T, S] {
	return &For[T, S]{
		Config:    config,
		Queue:     queue.New(config.Controller, config.ConcurrentSyncs/2, config.Clock),
		Caches:    config.CacheHealth.NewDependencies(),
		Pace:      NewStatusPace(config.Clock),
		unwritten: NewMemory[unwrittenStatus[S]](),
	}
}

// Key is an argument of queue.Handler for the objects themselves.
func Key(object metav1.Object) (types.NamespacedName, bool) { return apply.KeyOf(object), true }

// ReconcileKey reconciles the object with that key, or forgets it if it is gone. It returns the results of Reconcile.
func (f *For[T, S]) ReconcileKey(ctx context.Context, key types.NamespacedName) (time.Duration, error) {
	// This comes before the object is read: a cache that shows the last writes now may not have shown them when it was read.
	stale := f.Consistency.EnsureReady(key)
	object, err := f.Get(key.Namespace, key.Name)
	if apierrors.IsNotFound(err) {
		return 0, f.observeDeletion(ctx, key)
	}
	if err != nil {
		return 0, fmt.Errorf("reading the %s: %w", f.Noun, err)
	}
	isDeleting := object.GetDeletionTimestamp() != nil
	if isDeleting && f.ReconcileDeletion == nil {
		f.forgetChildren(key)
		return 0, nil
	}
	if stale != nil {
		klog.FromContext(ctx).V(4).Info("Waiting for a cache", "reason", stale)
		return StaleCacheRetry, nil
	}
	if isDeleting {
		f.forgetChildren(key)
		return f.ReconcileDeletion(ctx, object)
	}
	return f.Reconcile(ctx, object)
}

// Remember adds a memory to Memories. It must not be called after Run.
func (f *For[T, S]) Remember(memory Forgetter) { f.Memories = append(f.Memories, memory) }

// Eventf records an event about the object and about a related one, which may be nil. reason names what happened, action what the
// controller did. Events about the same objects count as one event that happens again.
func (f *For[T, S]) Eventf(object T, related runtime.Object, eventType, reason, action, format string, args ...any) {
	f.Recorder.Eventf(object, related, eventType, reason, action, "%s", message.Truncate(fmt.Sprintf(format, args...)))
}

// observeDeletion drops everything that is remembered of an object that is gone.
func (f *For[T, S]) observeDeletion(ctx context.Context, key types.NamespacedName) error {
	f.Consistency.Clear(key, "")
	f.Pace.Forget(key)
	f.unwritten.Forget(key)
	for _, memory := range f.Memories {
		memory.Forget(key)
	}
	f.forgetChildren(key)
	if f.ObserveDeletion == nil {
		return nil
	}
	return f.ObserveDeletion(ctx, key)
}

func (f *For[T, S]) forgetChildren(key types.NamespacedName) {
	if f.ForgetChildren != nil {
		f.ForgetChildren(key)
	}
}
