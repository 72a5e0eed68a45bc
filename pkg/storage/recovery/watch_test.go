// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package recovery

import (
	"context"
	"strconv"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/apiserver/pkg/storage"
)

// watchPatience is the timeout for an event.
const watchPatience = time.Minute

// Clients with revisions that the store has not reached, from a lost store or a CustomResourceDefinition, must list again.
func TestAWatchFromARevisionThatTheStoreHasNotReachedIsExpired(t *testing.T) {
	for _, row := range []struct {
		name     string
		isCached bool
	}{{"with a watch cache", true}, {"without a watch cache", false}} {
		t.Run(row.name, func(t *testing.T) {
			f := newFixture(t)
			runner := NewRunner(f.config, nil)
			decorator := runner.UncachedDecorator()
			if row.isCached {
				decorator = runner.Decorator()
				close(runner.done)
			}
			watched, stop := decoratedStorage(t, f, decorator)
			defer stop()
			watchFrom := func(revision int64) (watch.Interface, error) {
				options := storage.ListOptions{ResourceVersion: strconv.FormatInt(revision, 10), Predicate: storage.Everything, Recursive: true}
				for {
					w, err := watched.Watch(t.Context(), f.boxes.prefix+"/", options)
					if !apierrors.IsTooManyRequests(err) || t.Context().Err() != nil { // the cache is being filled
						return w, err
					}
				}
			}

			position, err := f.store.Position(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if w, err := watchFrom(position.Revision + 1); !apierrors.IsResourceExpired(err) {
				if err == nil {
					w.Stop()
				}
				t.Errorf("a watch from the future: %v", err)
			}
			w, err := watchFrom(position.Revision)
			if err != nil {
				t.Fatal(err)
			}
			defer w.Stop()
			f.put(box("web", "1"))
			ctx, cancel := context.WithTimeout(t.Context(), watchPatience)
			defer cancel()
			select {
			case event := <-w.ResultChan():
				if event.Type != watch.Added {
					t.Errorf("a watch from the present: %v", event)
				}
			case <-ctx.Done():
				t.Error("a watch from the present sees nothing")
			}
			// The store has come there in the meantime.
			if w, err := watchFrom(position.Revision + 1); err != nil {
				t.Error(err)
			} else {
				w.Stop()
			}
		})
	}
}
