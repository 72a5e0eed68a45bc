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
	// MaxRestores is how often a field is restored within conflictWindow. One that would have to be restored once more is
	// contested: it is left alone for a while before each further try.
	MaxRestores = 5
	// FirstPause is how long a contested field is left alone at first. Each pause is twice as long as the one before, up to
	// lastPause.
	FirstPause = time.Minute
	lastPause  = 16 * time.Minute
	// conflictWindow is longer than the pauses, or a conflict would be forgotten in one.
	conflictWindow = 20 * time.Minute
)

// conflictRecord remembers which fields of which children have to be restored again and again, each on its own. It is
// lost with the process: the next one restores a field as often before it gives way.
type conflictRecord struct {
	clock clock.PassiveClock

	mu     sync.Mutex
	fields map[fieldOfChild]*conflict
}

type fieldOfChild struct {
	child types.UID
	path  string
}

// conflict is the history of one field.
type conflict struct {
	// restores are when the field was restored, within conflictWindow and the last MaxRestores times.
	restores []time.Time
	// pause is the length of the last pause, 0 before the first; until is its end.
	pause time.Duration
	until time.Time
	// isTried is whether the field was restored since.
	isTried bool
	// manager is the field manager that changed the field last.
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

// paused returns the fields whose pause has not ended yet.
func (r *conflictRecord) paused(child types.UID, fields *fieldpath.Set) []ContestedField {
	r.mu.Lock()
	defer r.mu.Unlock()
	now := r.clock.Now()
	var paused []ContestedField
	fields.Iterate(func(path fieldpath.Path) {
		if c := r.fields[fieldOfChild{child, path.String()}]; c != nil && now.Before(c.until) {
			paused = append(paused, ContestedField{path.Copy(), c.manager, c.until.Sub(now)})
		}
	})
	return paused
}

// contested returns the fields that are to be left alone because they were restored too often. byManager has the fields of each
// manager that changed them.
func (r *conflictRecord) contested(child types.UID, byManager map[string]*fieldpath.Set) []ContestedField {
	r.mu.Lock()
	defer r.mu.Unlock()
	now := r.clock.Now()
	r.forgetPast(now)
	var contested []ContestedField
	for manager, fields := range byManager {
		fields.Iterate(func(path fieldpath.Path) {
			c := r.fields[fieldOfChild{child, path.String()}]
			if c == nil {
				return
			}
			c.manager = manager
			if pause := c.backOff(now); pause > 0 {
				contested = append(contested, ContestedField{path.Copy(), manager, pause})
			}
		})
	}
	slices.SortFunc(contested, func(a, b ContestedField) int { return a.Path.Compare(b.Path) })
	return contested
}

// backOff returns how long to leave the field alone, 0 for not at all.
func (c *conflict) backOff(now time.Time) time.Duration {
	if now.Before(c.until) {
		return c.until.Sub(now)
	}
	isContested := len(c.restores) >= MaxRestores
	if c.pause > 0 {
		isContested = c.isTried
	}
	if !isContested {
		return 0
	}
	c.pause = min(max(2*c.pause, FirstPause), lastPause)
	c.until, c.isTried = now.Add(c.pause), false
	return c.pause
}

// restored takes note that the fields of the child were restored.
func (r *conflictRecord) restored(child types.UID, fields *fieldpath.Set) {
	r.mu.Lock()
	defer r.mu.Unlock()
	now := r.clock.Now()
	fields.Iterate(func(path fieldpath.Path) {
		key := fieldOfChild{child, path.String()}
		if r.fields[key] == nil {
			r.fields[key] = &conflict{}
		}
		c := r.fields[key]
		c.isTried = true
		c.restores = append(c.restores, now)
		c.restores = c.restores[max(0, len(c.restores)-MaxRestores):]
	})
}

// forgetPast drops what is older than conflictWindow, and the fields of which nothing is left.
func (r *conflictRecord) forgetPast(now time.Time) {
	for key, c := range r.fields {
		c.restores = slices.DeleteFunc(c.restores, func(at time.Time) bool { return now.Sub(at) > conflictWindow })
		if len(c.restores) == 0 && now.After(c.until) {
			delete(r.fields, key)
		}
	}
}
