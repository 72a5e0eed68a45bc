// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package powerloss

// hold makes syncs wait, so that a test can cut the power at a sync.
type hold struct {
	// syncs is the number of syncs until the first one waits.
	syncs int
	// waiting is closed when the first sync waits, and released when the syncs end. Both are nil if no sync has to wait.
	waiting, released chan struct{}
}

// HoldSyncs lets the given number of syncs through, and makes all later ones wait. The returned channel is closed when the first one
// waits. A program that waits must be killed before ReleaseSyncs.
func (f *FileSystem) HoldSyncs(after int) (waiting <-chan struct{}) {
	f.disk.mu.Lock()
	defer f.disk.mu.Unlock()
	f.disk.hold = hold{syncs: after, waiting: make(chan struct{}), released: make(chan struct{})}
	return f.disk.hold.waiting
}

// Syncs returns the number of syncs that have made data durable.
func (f *FileSystem) Syncs() int {
	f.disk.mu.Lock()
	defer f.disk.mu.Unlock()
	return f.disk.syncs
}

// ReleaseSyncs makes the syncs that wait fail, and lets later ones through.
func (f *FileSystem) ReleaseSyncs() {
	f.disk.mu.Lock()
	defer f.disk.mu.Unlock()
	close(f.disk.hold.released)
	f.disk.hold = hold{}
}

// awaitSync returns whether a sync can make data durable.
func (d *disk) awaitSync() bool {
	d.mu.Lock()
	h := &d.hold
	switch {
	case h.released == nil:
		d.mu.Unlock()
		return true
	case h.syncs > 0:
		h.syncs--
		d.mu.Unlock()
		return true
	case h.syncs == 0:
		h.syncs--
		close(h.waiting)
	}
	released := h.released
	d.mu.Unlock()
	<-released
	return false
}
