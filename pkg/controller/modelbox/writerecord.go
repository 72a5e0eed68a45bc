// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package modelbox

import (
	"sync"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/resourceversion"
)

// writeRecord makes a box wait until the caches show what was last written for it. Without it, the next look at
// the box would see the past and write again.
type writeRecord struct {
	caches map[schema.GroupResource]versionedCache

	mu     sync.Mutex
	writes map[types.NamespacedName]map[schema.GroupResource]string
}

// versionedCache is a cache that knows the newest resource version it has seen.
type versionedCache interface {
	LastStoreSyncResourceVersion() string
}

func newWriteRecord() *writeRecord {
	return &writeRecord{
		caches: map[schema.GroupResource]versionedCache{},
		writes: map[types.NamespacedName]map[schema.GroupResource]string{},
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
		r.writes[box] = map[schema.GroupResource]string{}
	}
	if last := r.writes[box][resource]; last == "" || isNewer(version, last) {
		r.writes[box][resource] = version
	}
}

// isVisible returns whether the caches show every write that was recorded for the box.
func (r *writeRecord) isVisible(box types.NamespacedName) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	for resource, wrote := range r.writes[box] {
		seen := r.caches[resource].LastStoreSyncResourceVersion()
		if seen != "" && isNewer(wrote, seen) {
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
