// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package store

import "slices"

// Snapshot has the contents of a store at one time.
type Snapshot struct{ contents }

// Snapshot returns the present contents.
func (s *Store) Snapshot() *Snapshot {
	s.mu.Lock()
	defer s.mu.Unlock()
	return &Snapshot{s.clone()}
}

// Restore replaces the contents by the contents of the snapshot, or by nothing if it is nil. All watches end. As in an etcd that is
// restored from a snapshot, there is no history, and the ID of the cluster is new.
func (s *Store) Restore(snapshot *Snapshot) {
	restored := newContents()
	if snapshot != nil {
		restored = snapshot.clone()
	}
	s.mu.Lock()
	s.contents, s.compacted, s.changes = restored, restored.revision, nil
	s.clusterID++
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
