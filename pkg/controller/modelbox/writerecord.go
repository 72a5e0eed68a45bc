// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package modelbox

import (
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

// writeRecord makes a box wait until the caches show what was last written for it, for maxCacheLag at most. Without it,
// the next look at the box would see the past and write again.
type writeRecord struct {
	clock  clock.PassiveClock
	caches map[schema.GroupResource]versionedCache

	mu     sync.Mutex
	writes map[types.NamespacedName]map[schema.GroupResource]write
}

// write is the newest version of a resource that was written for a box, and when it was.
type write struct {
	version string
	at      time.Time
}

// versionedCache is a cache that knows the newest resource version it has seen.
type versionedCache interface {
	LastStoreSyncResourceVersion() string
}

func newWriteRecord(clock clock.PassiveClock) *writeRecord {
	return &writeRecord{
		clock:  clock,
		caches: map[schema.GroupResource]versionedCache{},
		writes: map[types.NamespacedName]map[schema.GroupResource]write{},
	}
}

// observe names the cache of a resource. It may not be called once the record is in use.
func (r *writeRecord) observe(resource schema.GroupResource, cache versionedCache) {
	r.caches[resource] = cache
}

// wrote records that an object of the resource was written for the box, with the version that came back.
func (r *writeRecord) wrote(box types.NamespacedName, resource schema.GroupResource, version string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.writes[box] == nil {
		r.writes[box] = map[schema.GroupResource]write{}
	}
	if last := r.writes[box][resource].version; last == "" || isNewer(version, last) {
		r.writes[box][resource] = write{version, r.clock.Now()}
	}
}

// isVisible returns whether the caches show every write that was recorded for the box, or will never show it.
func (r *writeRecord) isVisible(box types.NamespacedName) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	for resource, wrote := range r.writes[box] {
		seen := r.caches[resource].LastStoreSyncResourceVersion()
		if seen != "" && isNewer(wrote.version, seen) && r.clock.Since(wrote.at) < maxCacheLag {
			return false
		}
	}
	delete(r.writes, box)
	return true
}

// forget drops what was recorded for a box that is gone.
func (r *writeRecord) forget(box types.NamespacedName) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.writes, box)
}

// isNewer is false for versions that cannot be compared: waiting for one of those would never end.
func isNewer(version, than string) bool {
	order, err := resourceversion.CompareResourceVersion(version, than)
	return err == nil && order > 0
}
