// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

// Package consistency lets a controller read its own writes: it waits until its caches show what it wrote last. It is what
// k8s.io/kubernetes/pkg/controller/util/consistency is for the controllers of Kubernetes, and an end to the waiting.
package consistency

import (
	"fmt"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/resourceversion"
	"k8s.io/utils/clock"
)

// maxCacheLag is how long a cache may take to show a write. One that takes longer will never show it: a cluster that was
// restored from a backup counts its versions on from where the backup was made.
const maxCacheLag = time.Minute

// LastSyncRVGetter is a cache that knows the newest resource version that it has seen, empty where it does not. The store
// of an informer is one.
type LastSyncRVGetter interface {
	LastStoreSyncResourceVersion() string
}

// Error says that a cache does not show yet what was written last.
type Error struct {
	// ReadRV is the version that the cache has come to, WroteRV the one that was written.
	ReadRV, WroteRV string
	GroupResource   schema.GroupResource
}

func (e *Error) Error() string {
	return fmt.Sprintf("the cache of %s is at version %s, and version %s was written", e.GroupResource, e.ReadRV, e.WroteRV)
}

// Store remembers for each owner the newest version of each resource that was written for it, until the caches show it.
// Without it, the next look at the owner would see the past and write again. It may be used by several goroutines.
type Store struct {
	clock  clock.PassiveClock
	stores map[schema.GroupResource]LastSyncRVGetter

	mu     sync.Mutex
	writes map[types.NamespacedName]*ownerRecord
}

// ownerRecord is what was written for one owner.
type ownerRecord struct {
	uid    types.UID
	writes map[schema.GroupResource]write
}

// write is a version that was written, and when it was.
type write struct {
	version string
	at      time.Time
}

// NewStore returns a Store that looks at the caches of these resources. Writes of another resource are not waited for.
func NewStore(clock clock.PassiveClock, stores map[schema.GroupResource]LastSyncRVGetter) *Store {
	return &Store{clock: clock, stores: stores, writes: map[types.NamespacedName]*ownerRecord{}}
}

// WroteAt records that an object of the resource was written for the owner, with the resource version of the response. It forgets
// the writes for an earlier owner of the name.
func (s *Store) WroteAt(owner types.NamespacedName, ownerUID types.UID, resource schema.GroupResource, rv string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	record := s.writes[owner]
	if record == nil || record.uid != ownerUID {
		record = &ownerRecord{uid: ownerUID, writes: map[schema.GroupResource]write{}}
		s.writes[owner] = record
	}
	if last := record.writes[resource].version; last == "" || isNewer(rv, last) {
		record.writes[resource] = write{rv, s.clock.Now()}
	}
}

// EnsureReady returns an Error while a cache does not show a write that was recorded for the owner. It gives up a write
// that no cache shows within a minute.
func (s *Store) EnsureReady(owner types.NamespacedName) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	record := s.writes[owner]
	if record == nil {
		return nil
	}
	for resource, wrote := range record.writes {
		store, isKnown := s.stores[resource]
		if !isKnown {
			continue
		}
		seen := store.LastStoreSyncResourceVersion()
		if seen != "" && isNewer(wrote.version, seen) && s.clock.Since(wrote.at) < maxCacheLag {
			return &Error{ReadRV: seen, WroteRV: wrote.version, GroupResource: resource}
		}
	}
	delete(s.writes, owner)
	return nil
}

// Clear forgets the writes for an owner, whichever it is of the name where the UID is empty.
func (s *Store) Clear(owner types.NamespacedName, ownerUID types.UID) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if record := s.writes[owner]; record != nil && (ownerUID == "" || record.uid == ownerUID) {
		delete(s.writes, owner)
	}
}

// isNewer is false for versions that cannot be compared: waiting for one of those would never end.
func isNewer(version, than string) bool {
	order, err := resourceversion.CompareResourceVersion(version, than)
	return err == nil && order > 0
}
