// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package store

import (
	"maps"
	"slices"
)

// Snapshot has the contents of a store at one time.
type Snapshot struct {
	revision int64
	entries  map[string]*entry
	keys     []string
	values   map[string]value
}

// Snapshot returns the present contents.
func (s *Store) Snapshot() *Snapshot {
	s.mu.Lock()
	defer s.mu.Unlock()
	return &Snapshot{s.revision, maps.Clone(s.entries), slices.Clone(s.keys), maps.Clone(s.values)}
}

// Restore replaces the contents by the contents of the snapshot, or by nothing if it is nil. All watches end. As in an etcd that is
// restored from a snapshot, there is no history, and the ID of the cluster is new.
func (s *Store) Restore(snapshot *Snapshot) {
	if snapshot == nil {
		snapshot = &Snapshot{revision: firstRevision}
	}
	s.mu.Lock()
	s.revision, s.compacted = snapshot.revision, snapshot.revision
	s.clusterID++
	s.entries, s.keys, s.values, s.changes = map[string]*entry{}, slices.Clone(snapshot.keys), map[string]value{}, nil
	maps.Copy(s.entries, snapshot.entries)
	maps.Copy(s.values, snapshot.values)
	watches := slices.Clone(s.watches)
	s.mu.Unlock()
	for _, watch := range watches {
		watch.Stop()
	}
}

// RaiseRevision raises the revision to the given one, if it is lower.
func (s *Store) RaiseRevision(to int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.revision = max(s.revision, to)
}
