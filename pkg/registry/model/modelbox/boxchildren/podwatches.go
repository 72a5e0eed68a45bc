// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package boxchildren

import (
	"context"
	"sync"

	"k8s.io/apimachinery/pkg/types"
)

// podWatches are the watches of pods that are in use. Each runs as long as a request uses it.
type podWatches struct {
	mu    sync.Mutex
	byKey map[podWatchKey]*sharedPodWatch
}

// podWatchKey says which pods of which box are watched. The selector of a box changes when its workload is adopted.
type podWatchKey struct {
	box      types.UID
	selector string
}

type sharedPodWatch struct {
	*podWatch
	users int
	stop  context.CancelFunc
}

// join returns the watch of the key, a new one that runs where there is none. The watch stops when the contexts of all who joined it
// are done.
func (w *podWatches) join(ctx context.Context, key podWatchKey, newWatch func() (*podWatch, error)) (*podWatch, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	shared, isRunning := w.byKey[key]
	if !isRunning {
		watch, err := newWatch()
		if err != nil {
			return nil, err
		}
		// It outlives the request that begins it.
		running, stop := context.WithCancel(context.Background())
		shared = &sharedPodWatch{podWatch: watch, stop: stop}
		if w.byKey == nil {
			w.byKey = map[podWatchKey]*sharedPodWatch{}
		}
		w.byKey[key] = shared
		go watch.informer.RunWithContext(running)
	}
	shared.users++
	context.AfterFunc(ctx, func() { w.leave(key, shared) })
	return shared.podWatch, nil
}

func (w *podWatches) leave(key podWatchKey, shared *sharedPodWatch) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if shared.users--; shared.users == 0 {
		shared.stop()
		delete(w.byKey, key)
	}
}
