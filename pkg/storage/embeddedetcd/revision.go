// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package embeddedetcd

import (
	"fmt"
	"os"
	"path/filepath"

	"go.etcd.io/etcd/server/v3/storage/backend"
	"go.etcd.io/etcd/server/v3/storage/datadir"
	"go.etcd.io/etcd/server/v3/storage/mvcc"
	"go.etcd.io/etcd/server/v3/storage/schema"
	"go.uber.org/zap"
)

// RaiseRevision increases the revision of the etcd in dir to the given revision, and marks all earlier revisions as compacted. The
// etcd must not be running. This is the same as "etcdutl snapshot restore --bump-revision --mark-compacted" for a snapshot. It does
// nothing if the etcd has already reached the revision.
func RaiseRevision(dir string, to int64) error {
	file := datadir.ToBackendFileName(filepath.Join(dir, "etcd"))
	// bbolt would create a missing database.
	if _, err := os.Stat(file); err != nil {
		return fmt.Errorf("finding the database of etcd: %w", err)
	}
	database := backend.NewDefaultBackend(zap.NewNop(), file)
	defer database.Close()
	tx := database.BatchTx()
	tx.LockOutsideApply()
	defer tx.Unlock()

	var latest mvcc.Revision
	if err := tx.UnsafeForEach(schema.Key, func(key, _ []byte) error {
		if revision := mvcc.BytesToRev(key); revision.GreaterThan(latest) {
			latest = revision
		}
		return nil
	}); err != nil {
		return fmt.Errorf("reading the revision of etcd: %w", err)
	}
	if latest.Main >= to {
		return nil
	}
	raised := mvcc.Revision{Main: to}
	tx.UnsafePut(schema.Key, mvcc.RevToBytes(raised, mvcc.NewRevBytes()), []byte{})
	mvcc.UnsafeSetScheduledCompact(tx, to)
	return nil
}
