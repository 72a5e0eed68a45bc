// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package linearizability

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"sync/atomic"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
)

// Servers close watches after this number of seconds, and send a bookmark two seconds before.
const (
	minWatchSeconds = 3
	maxWatchSeconds = 6
)

// watcher watches a resource. It resumes when a watch ends.
type watcher struct {
	client
	resource string
	// seen is the last observed revision.
	seen atomic.Int64
}

// run watches until ctx is done.
func (w *watcher) run(ctx context.Context) {
	for ctx.Err() == nil {
		if w.seen.Load() == 0 {
			if list, err := w.list(w.resource); err == nil {
				w.seen.Store(list.Revision)
			}
		} else {
			w.watch(ctx)
		}
		if ctx.Err() == nil {
			time.Sleep(maxPause)
		}
	}
}

// watch watches from the last observed revision until the watch ends.
func (w *watcher) watch(ctx context.Context) {
	told := Watch{Client: w.number, Resource: w.resource, From: w.seen.Load()}
	stream, err := w.server.Get().AbsPath(w.path(w.resource)).
		Param("watch", "true").
		Param("allowWatchBookmarks", "true").
		Param("resourceVersion", strconv.FormatInt(told.From, 10)).
		Param("timeoutSeconds", strconv.Itoa(minWatchSeconds+w.random.IntN(maxWatchSeconds-minWatchSeconds))).
		MaxRetries(0).Stream(ctx)
	if apierrors.IsResourceExpired(err) {
		w.expire(told.From)
		return
	}
	if err != nil {
		time.Sleep(unservedPause)
		return
	}
	defer stream.Close()
	for decoder := json.NewDecoder(stream); ; {
		var next struct {
			Type   watch.EventType      `json:"type"`
			Object runtime.RawExtension `json:"object"`
		}
		if decoder.Decode(&next) != nil {
			break
		}
		event, err := w.parse(next.Type, next.Object.Raw)
		if apierrors.IsResourceExpired(err) {
			w.expire(w.seen.Load())
			break
		}
		if err != nil {
			w.t.Errorf("client %d: the watch of %s: %v", w.number, w.resource, err)
			break
		}
		told.Events = append(told.Events, event)
		w.seen.Store(event.Object.Revision)
	}
	w.recorder.record(func(h *History) { h.Watches = append(h.Watches, told) })
}

func (w *watcher) parse(eventType watch.EventType, data []byte) (Event, error) {
	event := Event{Type: eventType, Received: w.recorder.now()}
	var err error
	switch eventType {
	case watch.Error:
		var status metav1.Status
		if err := json.Unmarshal(data, &status); err != nil {
			return event, err
		}
		return event, &apierrors.StatusError{ErrStatus: status}
	case watch.Bookmark:
		var bookmark metav1.PartialObjectMetadata
		if err := json.Unmarshal(data, &bookmark); err != nil {
			return event, err
		}
		event.Object.Revision, err = strconv.ParseInt(bookmark.ResourceVersion, 10, 64)
	case watch.Added, watch.Modified, watch.Deleted:
		event.Name, event.Object, err = parse(data)
	default:
		err = fmt.Errorf("it has an event of the type %q", eventType)
	}
	return event, err
}

// expire makes the watcher list again.
func (w *watcher) expire(from int64) {
	expired := Expired{w.resource, from, w.recorder.now()}
	w.recorder.record(func(h *History) { h.Expired = append(h.Expired, expired) })
	w.seen.Store(0)
}
