// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package store

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"sync"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/apiserver/pkg/storage"

	"github.com/sharelinuxs/modelbox-apiserver/hack/universe/transport"
)

// watchBuffer is the number of delivered events that a client may not have read.
const watchBuffer = 100

// Watch queues the changes of the objects whose keys begin with its key, until Deliver delivers them.
type Watch struct {
	store     *Store
	id        int
	client    string
	key       string
	predicate storage.SelectionPredicate

	mu      sync.Mutex
	queue   []watch.Event
	results chan watch.Event
	stopped bool
}

var _ watch.Interface = &Watch{}

// Watch implements storage.Interface.
func (r *resource) Watch(ctx context.Context, key string, opts storage.ListOptions) (watch.Interface, error) {
	prefix, err := storage.PrepareKey(r.prefix, key, opts.Recursive)
	if err != nil {
		return nil, err
	}
	since, err := versioner.ParseResourceVersion(opts.ResourceVersion)
	if err != nil {
		return nil, err
	}
	s := r.store
	s.mu.Lock()
	defer s.mu.Unlock()
	s.opened++
	w := &Watch{store: s, id: s.opened, client: transport.ClientOf(ctx), key: prefix, predicate: opts.Predicate, results: make(chan watch.Event, watchBuffer)}
	sendsInitialEvents := opts.SendInitialEvents != nil && *opts.SendInitialEvents
	switch {
	case sendsInitialEvents || since == 0 && opts.SendInitialEvents == nil:
		for _, key := range r.keysOf(prefix, opts.Recursive) {
			w.offer(Change{Key: key, After: s.entries[key].object})
		}
		if sendsInitialEvents && opts.Predicate.AllowWatchBookmarks {
			bookmark := r.newObject()
			if err := versioner.UpdateObject(bookmark, uint64(s.revision)); err != nil {
				return nil, err
			}
			if err := storage.AnnotateInitialEventsEndBookmark(bookmark); err != nil {
				return nil, err
			}
			w.queue = append(w.queue, watch.Event{Type: watch.Bookmark, Object: bookmark})
		}
	case since == 0:
		// Only what changes from now on.
	case int64(since) < s.compacted || int64(since) > s.revision:
		w.queue = append(w.queue, expired())
	default:
		for _, change := range s.changes {
			if change.Revision > int64(since) {
				w.offer(change)
			}
		}
	}
	s.watches = append(s.watches, w)
	context.AfterFunc(ctx, w.Stop)
	return w, nil
}

// ID returns the number of the watch. Watches are numbered in the order in which they are opened.
func (w *Watch) ID() int { return w.id }

// Client returns the name of the client that watches.
func (w *Watch) Client() string { return w.client }

// Key returns the key of the watched object, or the prefix of the keys of the watched objects.
func (w *Watch) Key() string { return w.key }

// Pending returns how many events can be delivered.
func (w *Watch) Pending() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return min(len(w.queue), watchBuffer-len(w.results))
}

// Deliver delivers the first events, at most Pending.
func (w *Watch) Deliver(count int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.stopped {
		return
	}
	for _, event := range w.queue[:count] {
		w.results <- event
	}
	w.queue = slices.Delete(w.queue, 0, count)
}

// Stop implements watch.Interface. Queued events are lost, and the client must watch again.
func (w *Watch) Stop() {
	w.store.mu.Lock()
	defer w.store.mu.Unlock()
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.stopped {
		return
	}
	w.stopped, w.queue = true, nil
	close(w.results)
	w.store.watches = slices.DeleteFunc(w.store.watches, func(other *Watch) bool { return other == w })
}

// ResultChan implements watch.Interface.
func (w *Watch) ResultChan() <-chan watch.Event { return w.results }

// offer queues the event of the change, if the watch selects the object before or after the change.
func (w *Watch) offer(change Change) {
	if !strings.HasPrefix(change.Key, w.key) {
		return
	}
	before, after := w.selects(change.Before), w.selects(change.After)
	event := watch.Event{Object: change.After}
	switch {
	case before && after:
		event.Type = watch.Modified
	case after:
		event.Type = watch.Added
	case before:
		event = watch.Event{Type: watch.Deleted, Object: change.Before.DeepCopyObject()}
		if err := versioner.UpdateObject(event.Object, uint64(change.Revision)); err != nil {
			panic(err) // Every stored object has metadata.
		}
	default:
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.queue = append(w.queue, event)
}

func (w *Watch) selects(object runtime.Object) bool {
	if object == nil {
		return false
	}
	matches, err := w.predicate.Matches(object)
	return err == nil && matches
}

func expired() watch.Event {
	err := apierrors.NewResourceExpired("The resourceVersion for the provided watch is too old.")
	status := err.Status()
	return watch.Event{Type: watch.Error, Object: &metav1.Status{Status: metav1.StatusFailure, Reason: status.Reason, Message: status.Message, Code: http.StatusGone}}
}
