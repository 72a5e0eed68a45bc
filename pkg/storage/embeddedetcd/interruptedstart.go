// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package embeddedetcd

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	bolt "go.etcd.io/bbolt"
	"go.etcd.io/etcd/client/pkg/v3/fileutil"
	"go.etcd.io/etcd/server/v3/storage/datadir"
	"go.etcd.io/etcd/server/v3/storage/schema"
	"go.etcd.io/etcd/server/v3/storage/wal"
	"go.etcd.io/etcd/server/v3/storage/wal/walpb"
	"go.uber.org/zap"
	"k8s.io/klog/v2"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/storage/durable"
)

// firstSegment is the name of the first segment of a write-ahead log.
const firstSegment = "0000000000000000-0000000000000000.wal"

// databaseLockTimeout is the timeout for the lock of the database. No other process can have the lock.
const databaseLockTimeout = time.Second

// discardInterruptedStart removes the etcd in dir if its first start was interrupted before it wrote to its log. The log of such an etcd
// does not have the only member, so that it would wait for a leader forever. It has no data.
func discardInterruptedStart(ctx context.Context, dir string) error {
	data := filepath.Join(dir, "etcd")
	isInterrupted, err := wasFirstStartInterrupted(data)
	if err != nil {
		// The start of etcd reports what it cannot read.
		klog.FromContext(ctx).V(2).Info("Checking whether the first start of etcd was interrupted failed", "dir", dir, "err", err)
	}
	if !isInterrupted {
		return nil
	}
	klog.FromContext(ctx).Info("The first start of etcd was interrupted before it stored anything. Starting with an empty store", "dir", dir)
	if err := os.RemoveAll(filepath.Join(data, "member")); err != nil {
		return fmt.Errorf("removing the etcd whose first start was interrupted: %w", err)
	}
	if err := durable.Sync(data); err != nil {
		return fmt.Errorf("syncing the directory of etcd: %w", err)
	}
	return nil
}

// wasFirstStartInterrupted returns whether an etcd has a log without entries, and nothing that says that there were any. It returns
// false with each error.
func wasFirstStartInterrupted(data string) (bool, error) {
	walDir := datadir.ToWALDir(data)
	segments, err := filepath.Glob(filepath.Join(walDir, "*.wal"))
	if err != nil || len(segments) != 1 || filepath.Base(segments[0]) != firstSegment {
		return false, err
	}
	snapshots, err := filepath.Glob(filepath.Join(datadir.ToSnapDir(data), "*.snap"))
	if err != nil || len(snapshots) > 0 {
		return false, err
	}
	if hasApplied, err := hasAppliedEntries(datadir.ToBackendFileName(data)); hasApplied || err != nil {
		return false, err
	}
	log, err := wal.OpenForRead(zap.NewNop(), walDir, &walpb.Snapshot{})
	if err != nil {
		return false, err
	}
	// This closes the log, which is open only for reads.
	_, _, entries, err := log.ReadAll()
	return len(entries) == 0 && err == nil, err
}

// hasAppliedEntries returns whether a database has the index of an applied entry. A database that does not exist has none.
func hasAppliedEntries(file string) (bool, error) {
	if !fileutil.Exist(file) {
		return false, nil
	}
	database, err := bolt.Open(file, fileutil.PrivateFileMode, &bolt.Options{ReadOnly: true, Timeout: databaseLockTimeout})
	if err != nil {
		return false, err
	}
	hasIndex := false
	err = database.View(func(tx *bolt.Tx) error {
		meta := tx.Bucket(schema.Meta.Name())
		hasIndex = meta != nil && meta.Get(schema.MetaConsistentIndexKeyName) != nil
		return nil
	})
	return hasIndex, errors.Join(err, database.Close())
}
