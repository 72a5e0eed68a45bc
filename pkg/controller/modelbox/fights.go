// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package modelbox

import (
	"slices"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
)

const (
	// A field that would have to be taken back for the sixth time within fightWindow is fought over. Every further try
	// to take it back is put off by a pause that doubles from the first to the last of these. The window is longer
	// than the pauses, or a fight would be forgotten in one.
	maxRestores = 5
	firstPause  = time.Minute
	lastPause   = 16 * time.Minute
	fightWindow = 20 * time.Minute
)

// fightRecord remembers which fields of which children have to be taken back again and again. It is lost with the
// process: the next one takes a field back as often before it gives way.
type fightRecord struct {
	clock clock.PassiveClock

	mu       sync.Mutex
	children map[types.UID]*fight
}

// fight is what is remembered of one child.
type fight struct {
	// restores are when each field, by its path, was taken back, within fightWindow and the last maxRestores times.
	restores map[string][]time.Time
	// pause is the length of the last pause, 0 before the first; until is its end, and conflict what it is about.
	pause    time.Duration
	until    time.Time
	conflict conflictError
	// isTried is whether the fields were taken back since.
	isTried bool
}

func newFightRecord(clock clock.PassiveClock) *fightRecord {
	return &fightRecord{clock: clock, children: map[types.UID]*fight{}}
}

// pause returns why the fields of the child are still to be left alone, nil if they need not be.
func (r *fightRecord) pause(child types.UID) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	f, now := r.children[child], r.clock.Now()
	if f == nil || !now.Before(f.until) {
		return nil
	}
	conflict := f.conflict
	conflict.pause = f.until.Sub(now)
	return &conflict
}

// restore takes note that the fields of the child, which the manager changed, are about to be taken back. When that
// happened too often, it returns why they are to be left alone instead.
func (r *fightRecord) restore(child child, fields *fieldpath.Set, manager string) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	now := r.clock.Now()
	r.forgetPast(now)
	f := r.children[child.GetUID()]
	if f == nil {
		f = &fight{restores: map[string][]time.Time{}}
		r.children[child.GetUID()] = f
	}
	paths := pathsOf(fields)
	limit := maxRestores
	if f.pause > 0 {
		limit = 1
	}
	isFought := slices.ContainsFunc(paths, func(path string) bool { return len(f.restores[path]) >= limit })
	if isFought && (f.pause == 0 || f.isTried) {
		f.pause = min(max(2*f.pause, firstPause), lastPause)
		f.until, f.isTried = now.Add(f.pause), false
		f.conflict = conflictError{
			kind:    child.GetObjectKind().GroupVersionKind().Kind,
			name:    child.GetName(),
			manager: manager,
			fields:  leaves(fields),
			pause:   f.pause,
		}
		conflict := f.conflict
		return &conflict
	}
	f.isTried = true
	for _, path := range paths {
		times := append(f.restores[path], now)
		f.restores[path] = times[max(0, len(times)-maxRestores):]
	}
	return nil
}

// forgetPast drops what is older than fightWindow, and the children of which nothing is left.
func (r *fightRecord) forgetPast(now time.Time) {
	for child, f := range r.children {
		for path, times := range f.restores {
			times = slices.DeleteFunc(times, func(at time.Time) bool { return now.Sub(at) > fightWindow })
			if f.restores[path] = times; len(times) == 0 {
				delete(f.restores, path)
			}
		}
		if len(f.restores) == 0 && now.After(f.until) {
			delete(r.children, child)
		}
	}
}

func pathsOf(fields *fieldpath.Set) []string {
	var paths []string
	for path := range fields.Leaves().All() {
		paths = append(paths, path.String())
	}
	return paths
}
