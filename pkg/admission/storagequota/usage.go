// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package storagequota

import (
	"fmt"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"
	"k8s.io/utils/clock"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
)

// reservationPeriod is how long a box that was let in counts although it has not been seen: the write may have failed.
const reservationPeriod = 30 * time.Second

// Usage knows how many bytes the boxes of each namespace take. A reflector fills it; only sizes are kept, some hundred
// bytes a box. What is being written counts already: boxes that one server lets in at the same time exceed no limit.
// Each of several servers may let in what the others have written since a moment ago.
type Usage struct {
	clock clock.PassiveClock

	mu           sync.Mutex
	hasSynced    bool
	sizes        map[types.NamespacedName]int
	totals       map[string]int
	reservations map[types.NamespacedName]reservation
}

// reservation is a size that a box will have unless its write fails.
type reservation struct {
	bytes int
	until time.Time
}

var _ cache.ReflectorStore = &Usage{}

// NewUsage returns one that knows of no box yet.
func NewUsage(clock clock.PassiveClock) *Usage {
	return &Usage{
		clock:        clock,
		sizes:        map[types.NamespacedName]int{},
		totals:       map[string]int{},
		reservations: map[types.NamespacedName]reservation{},
	}
}

// HasSynced returns whether the boxes are known that there were at the beginning.
func (u *Usage) HasSynced() bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.hasSynced
}

// reserve counts the bytes that a box is going to take, and returns how many its namespace has then. It counts nothing,
// and returns false, when the box grows and these are more than the limit. A dry run does not count.
func (u *Usage) reserve(box types.NamespacedName, bytes, limit int, isDryRun bool) (total int, fits bool) {
	u.mu.Lock()
	defer u.mu.Unlock()
	total = u.totals[box.Namespace] - u.sizes[box] + bytes
	now := u.clock.Now()
	for other, reserved := range u.reservations {
		if reserved.until.Before(now) {
			delete(u.reservations, other)
		} else if other.Namespace == box.Namespace && other != box {
			total += max(reserved.bytes-u.sizes[other], 0)
		}
	}
	if bytes > u.sizes[box] && total > limit {
		return total, false
	}
	if !isDryRun {
		u.reservations[box] = reservation{bytes, now.Add(reservationPeriod)}
	}
	return total, true
}

// set makes the size of a box known, and what was reserved for it forgotten.
func (u *Usage) set(object any) error {
	box, ok := object.(*modelv1.ModelBox)
	if !ok {
		return fmt.Errorf("a %T is no box", object)
	}
	u.put(types.NamespacedName{Namespace: box.Namespace, Name: box.Name}, box.Size())
	return nil
}

func (u *Usage) put(box types.NamespacedName, bytes int) {
	u.totals[box.Namespace] += bytes - u.sizes[box]
	u.sizes[box] = bytes
	delete(u.reservations, box)
}

// Add counts a box.
func (u *Usage) Add(object any) error {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.set(object)
}

// Update counts a box anew.
func (u *Usage) Update(object any) error { return u.Add(object) }

// Delete counts a box no more.
func (u *Usage) Delete(object any) error {
	box, ok := object.(*modelv1.ModelBox)
	if !ok {
		return fmt.Errorf("a %T is no box", object)
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	key := types.NamespacedName{Namespace: box.Namespace, Name: box.Name}
	u.put(key, 0)
	delete(u.sizes, key)
	if u.totals[box.Namespace] == 0 {
		delete(u.totals, box.Namespace)
	}
	return nil
}

// Replace counts these boxes, and no others.
func (u *Usage) Replace(objects []any, _ string) error {
	u.mu.Lock()
	defer u.mu.Unlock()
	clear(u.sizes)
	clear(u.totals)
	for _, object := range objects {
		if err := u.set(object); err != nil {
			return err
		}
	}
	u.hasSynced = true
	return nil
}

// Resync does nothing: there is nobody to tell.
func (u *Usage) Resync() error { return nil }
