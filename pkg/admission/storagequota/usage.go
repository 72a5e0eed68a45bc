// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package storagequota

import (
	"fmt"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"
	"k8s.io/utils/clock"
)

// reservationPeriod is how long an object that was let in counts although it has not been seen: the write may have failed.
const reservationPeriod = 30 * time.Second

// Usage knows how many bytes the objects of each namespace take. Reflectors fill it, one for each resource. It only keeps sizes,
// some hundred bytes an object. It counts objects that are being written already, so the objects that one server admits at the same
// time exceed no limit. Several servers may together exceed a limit, by the objects that the other servers have just written.
type Usage struct {
	clock clock.PassiveClock

	mu sync.Mutex
	// hasSynced says of each resource whether its objects are known that there were at the beginning.
	hasSynced    map[string]bool
	sizes        map[objectKey]int
	totals       map[string]int
	reservations map[objectKey]reservation
}

// objectKey names an object of one of the resources.
type objectKey struct {
	resource string
	types.NamespacedName
}

// reservation is a size that an object will have unless its write fails.
type reservation struct {
	bytes int
	until time.Time
}

// NewUsage returns one that knows of no object of the resources yet.
func NewUsage(clock clock.PassiveClock, resources ...string) *Usage {
	hasSynced := make(map[string]bool, len(resources))
	for _, resource := range resources {
		hasSynced[resource] = false
	}
	return &Usage{
		clock:        clock,
		hasSynced:    hasSynced,
		sizes:        map[objectKey]int{},
		totals:       map[string]int{},
		reservations: map[objectKey]reservation{},
	}
}

// HasSynced returns whether the objects are known that there were at the beginning.
func (u *Usage) HasSynced() bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	for _, hasSynced := range u.hasSynced {
		if !hasSynced {
			return false
		}
	}
	return true
}

// reserve counts the bytes that an object is going to take, and returns how many its namespace has then. It counts
// nothing, and returns false, when the object grows and these are more than the limit. A dry run does not count.
func (u *Usage) reserve(key objectKey, bytes, limit int, isDryRun bool) (total int, fits bool) {
	u.mu.Lock()
	defer u.mu.Unlock()
	total = u.totals[key.Namespace] - u.sizes[key] + bytes
	now := u.clock.Now()
	for other, reserved := range u.reservations {
		if reserved.until.Before(now) {
			delete(u.reservations, other)
		} else if other.Namespace == key.Namespace && other != key {
			total += max(reserved.bytes-u.sizes[other], 0)
		}
	}
	if bytes > u.sizes[key] && total > limit {
		return total, false
	}
	if !isDryRun {
		u.reservations[key] = reservation{bytes, now.Add(reservationPeriod)}
	}
	return total, true
}

func (u *Usage) put(key objectKey, bytes int) {
	u.totals[key.Namespace] += bytes - u.sizes[key]
	u.sizes[key] = bytes
	delete(u.reservations, key)
}

// forget counts what is stored of an object no more.
func (u *Usage) forget(key objectKey) {
	u.totals[key.Namespace] -= u.sizes[key]
	delete(u.sizes, key)
	if u.totals[key.Namespace] == 0 {
		delete(u.totals, key.Namespace)
	}
}

// Store returns what the reflector of a resource fills.
func (u *Usage) Store(resource string) cache.ReflectorStore { return &usageStore{u, resource} }

// usageStore makes the objects of a resource known to a Usage.
type usageStore struct {
	usage    *Usage
	resource string
}

// sizedObject is one that knows its size in the storage.
type sizedObject interface {
	metav1.Object
	Size() int
}

func (s *usageStore) keyOf(object metav1.Object) objectKey {
	return objectKey{s.resource, types.NamespacedName{Namespace: object.GetNamespace(), Name: object.GetName()}}
}

// set makes the size of an object known, and what was reserved for it forgotten.
func (s *usageStore) set(object any) error {
	sized, ok := object.(sizedObject)
	if !ok {
		return fmt.Errorf("the size of a %T is not known", object)
	}
	s.usage.put(s.keyOf(sized), sized.Size())
	return nil
}

// Add counts an object.
func (s *usageStore) Add(object any) error {
	s.usage.mu.Lock()
	defer s.usage.mu.Unlock()
	return s.set(object)
}

// Update counts an object again.
func (s *usageStore) Update(object any) error { return s.Add(object) }

// Delete counts an object no more.
func (s *usageStore) Delete(object any) error {
	deleted, ok := object.(metav1.Object)
	if !ok {
		return fmt.Errorf("a %T is no object", object)
	}
	s.usage.mu.Lock()
	defer s.usage.mu.Unlock()
	key := s.keyOf(deleted)
	s.usage.forget(key)
	delete(s.usage.reservations, key)
	return nil
}

// Replace counts these objects of the resource, and no others.
func (s *usageStore) Replace(objects []any, _ string) error {
	s.usage.mu.Lock()
	defer s.usage.mu.Unlock()
	for key := range s.usage.sizes {
		if key.resource == s.resource {
			s.usage.forget(key)
		}
	}
	for _, object := range objects {
		if err := s.set(object); err != nil {
			return err
		}
	}
	s.usage.hasSynced[s.resource] = true
	return nil
}

// Resync does nothing: the store has no listeners.
func (*usageStore) Resync() error { return nil }
