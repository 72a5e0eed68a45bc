// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package linearizability

import (
	"sync"
	"time"
)

// recorder records the history of all clients.
type recorder struct {
	began time.Time

	mu      sync.Mutex
	history History
}

// now returns the time since the start of the history.
func (r *recorder) now() time.Duration { return time.Since(r.began) }

func (r *recorder) record(add func(*History)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	add(&r.history)
}
