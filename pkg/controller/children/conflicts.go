// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package children

import (
	"slices"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
)

const (
	// A field that would have to be taken back for the sixth time within conflictWindow is contested. Every further try
	// to take it back is put off by a pause that doubles from the first to the last of these. The window is longer
	// than the pauses, or a conflict would be forgotten in one.
	MaxRestores    = 5
	FirstPause     = time.Minute
	lastPause      = 16 * time.Minute
	conflictWindow = 20 * time.Minute
)

// conflictRecord remembers which fields of which children have to be taken back again and again, each on its own. It is
// lost with the process: the next one takes a field back as often before it gives way.
type conflictRecord struct {
	clock clock.PassiveClock

	mu     sync.Mutex
	fields map[fieldOfChild]*conflict
}

type fieldOfChild struct {
	child types.UID
	path  string
}

// conflict is what is remembered of one field.
type conflict struct {
	// restores are when the field was taken back, within conflictWindow and the last MaxRestores times.
	restores []time.Time
	// pause is the length of the last pause, 0 before the first; until is its end.
	pause time.Duration
	until time.Time
	// isTried is whether the field was taken back since.
	isTried bool
	// manager is who changed it last.
	manager string
}

// ContestedField is a field that is left alone for a while.
type ContestedField struct {
	Path fieldpath.Path
	// Manager is the field manager that keeps changing it; empty where that is not known.
	Manager string
	// Pause is how long it is left alone.
	Pause time.Duration
}

func newConflictRecord(clock clock.PassiveClock) *conflictRecord {
	return &conflictRecord{clock: clock, fields: map[fieldOfChild]*conflict{}}
}

// paused returns those of the fields that are still to be left alone.
func (r *conflictRecord) paused(child types.UID, fields *fieldpath.Set) []ContestedField {
	r.mu.Lock()
	defer r.mu.Unlock()
	now := r.clock.Now()
	var paused []ContestedField
	fields.Iterate(func(path fieldpath.Path) {
		if f := r.fields[fieldOfChild{child, path.String()}]; f != nil && now.Before(f.until) {
			paused = append(paused, ContestedField{path.Copy(), f.manager, f.until.Sub(now)})
		}
	})
	return paused
}

// contested returns those of the fields, by the managers that changed them, that are to be left alone because they were
// taken back too often.
func (r *conflictRecord) contested(child types.UID, byManager map[string]*fieldpath.Set) []ContestedField {
	r.mu.Lock()
	defer r.mu.Unlock()
	now := r.clock.Now()
	r.forgetPast(now)
	var contested []ContestedField
	for manager, fields := range byManager {
		fields.Iterate(func(path fieldpath.Path) {
			f := r.fields[fieldOfChild{child, path.String()}]
			if f == nil {
				return
			}
			f.manager = manager
			if pause := f.backOff(now); pause > 0 {
				contested = append(contested, ContestedField{path.Copy(), manager, pause})
			}
		})
	}
	slices.SortFunc(contested, func(a, b ContestedField) int { return a.Path.Compare(b.Path) })
	return contested
}

// backOff returns how long to leave the field alone, 0 for not at all.
func (f *conflict) backOff(now time.Time) time.Duration {
	if now.Before(f.until) {
		return f.until.Sub(now)
	}
	isContested := len(f.restores) >= MaxRestores
	if f.pause > 0 {
		isContested = f.isTried
	}
	if !isContested {
		return 0
	}
	f.pause = min(max(2*f.pause, FirstPause), lastPause)
	f.until, f.isTried = now.Add(f.pause), false
	return f.pause
}

// restored takes note that the fields of the child were taken back.
func (r *conflictRecord) restored(child types.UID, fields *fieldpath.Set) {
	r.mu.Lock()
	defer r.mu.Unlock()
	now := r.clock.Now()
	fields.Iterate(func(path fieldpath.Path) {
		key := fieldOfChild{child, path.String()}
		if r.fields[key] == nil {
			r.fields[key] = &conflict{}
		}
		f := r.fields[key]
		f.isTried = true
		f.restores = append(f.restores, now)
		f.restores = f.restores[max(0, len(f.restores)-MaxRestores):]
	})
}

// forgetPast drops what is older than conflictWindow, and the fields of which nothing is left.
func (r *conflictRecord) forgetPast(now time.Time) {
	for key, f := range r.fields {
		f.restores = slices.DeleteFunc(f.restores, func(at time.Time) bool { return now.Sub(at) > conflictWindow })
		if len(f.restores) == 0 && now.After(f.until) {
			delete(r.fields, key)
		}
	}
}
