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

// fightRecord remembers which fields of which children have to be taken back again and again, each on its own. It is
// lost with the process: the next one takes a field back as often before it gives way.
type fightRecord struct {
	clock clock.PassiveClock

	mu     sync.Mutex
	fields map[fieldOfChild]*fight
}

type fieldOfChild struct {
	child types.UID
	path  string
}

// fight is what is remembered of one field.
type fight struct {
	// restores are when the field was taken back, within fightWindow and the last maxRestores times.
	restores []time.Time
	// pause is the length of the last pause, 0 before the first; until is its end.
	pause time.Duration
	until time.Time
	// isTried is whether the field was taken back since.
	isTried bool
	// manager is who changed it last.
	manager string
}

// contestedField is a field that is left alone for a while.
type contestedField struct {
	path fieldpath.Path
	// manager is who keeps changing it; empty where that is not known.
	manager string
	// pause is how long it is left alone.
	pause time.Duration
}

func newFightRecord(clock clock.PassiveClock) *fightRecord {
	return &fightRecord{clock: clock, fields: map[fieldOfChild]*fight{}}
}

// paused returns those of the fields that are still to be left alone.
func (r *fightRecord) paused(child types.UID, fields *fieldpath.Set) []contestedField {
	r.mu.Lock()
	defer r.mu.Unlock()
	now := r.clock.Now()
	var paused []contestedField
	fields.Iterate(func(path fieldpath.Path) {
		if f := r.fields[fieldOfChild{child, path.String()}]; f != nil && now.Before(f.until) {
			paused = append(paused, contestedField{path.Copy(), f.manager, f.until.Sub(now)})
		}
	})
	return paused
}

// weigh returns those of the fields, by the managers that changed them, that are to be left alone because they were
// taken back too often.
func (r *fightRecord) weigh(child types.UID, byManager map[string]*fieldpath.Set) []contestedField {
	r.mu.Lock()
	defer r.mu.Unlock()
	now := r.clock.Now()
	r.forgetPast(now)
	var contested []contestedField
	for manager, fields := range byManager {
		fields.Iterate(func(path fieldpath.Path) {
			f := r.fields[fieldOfChild{child, path.String()}]
			if f == nil {
				return
			}
			f.manager = manager
			if pause := f.weigh(now); pause > 0 {
				contested = append(contested, contestedField{path.Copy(), manager, pause})
			}
		})
	}
	slices.SortFunc(contested, func(a, b contestedField) int { return a.path.Compare(b.path) })
	return contested
}

// weigh returns how long to leave the field alone, 0 for not at all.
func (f *fight) weigh(now time.Time) time.Duration {
	if now.Before(f.until) {
		return f.until.Sub(now)
	}
	isFought := len(f.restores) >= maxRestores
	if f.pause > 0 {
		isFought = f.isTried
	}
	if !isFought {
		return 0
	}
	f.pause = min(max(2*f.pause, firstPause), lastPause)
	f.until, f.isTried = now.Add(f.pause), false
	return f.pause
}

// restored takes note that the fields of the child were taken back.
func (r *fightRecord) restored(child types.UID, fields *fieldpath.Set) {
	r.mu.Lock()
	defer r.mu.Unlock()
	now := r.clock.Now()
	fields.Iterate(func(path fieldpath.Path) {
		key := fieldOfChild{child, path.String()}
		if r.fields[key] == nil {
			r.fields[key] = &fight{}
		}
		f := r.fields[key]
		f.isTried = true
		f.restores = append(f.restores, now)
		f.restores = f.restores[max(0, len(f.restores)-maxRestores):]
	})
}

// forgetPast drops what is older than fightWindow, and the fields of which nothing is left.
func (r *fightRecord) forgetPast(now time.Time) {
	for key, f := range r.fields {
		f.restores = slices.DeleteFunc(f.restores, func(at time.Time) bool { return now.Sub(at) > fightWindow })
		if len(f.restores) == 0 && now.After(f.until) {
			delete(r.fields, key)
		}
	}
}
