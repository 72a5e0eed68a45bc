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

// RaiseRevision lets the etcd in dir, which must not be running, count on from a revision, with everything before it
// compacted. It does what "etcdutl snapshot restore --bump-revision --mark-compacted" does to a snapshot, and leaves an
// etcd that has come so far already as it is.
func RaiseRevision(dir string, to int64) error {
	file := datadir.ToBackendFileName(filepath.Join(dir, "etcd"))
	// A missing one would be created.
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
