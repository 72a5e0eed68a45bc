// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package embeddedetcd

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"go.etcd.io/etcd/client/pkg/v3/fileutil"
)

// purgeWAL removes the segments of the write-ahead log in dir that etcd no longer needs. etcd has a lock on the others. etcd itself
// purges only every 30 seconds, and large writes could fill a small disk in that time.
func purgeWAL(dir string) error {
	segments, err := filepath.Glob(filepath.Join(dir, "*.wal"))
	if err != nil {
		return fmt.Errorf("listing the segments of the log: %w", err)
	}
	// The segments are sorted. etcd writes to the last one.
	for len(segments) > 1 {
		lock, err := fileutil.TryLockFile(segments[0], os.O_WRONLY, fileutil.PrivateFileMode)
		if errors.Is(err, fileutil.ErrLocked) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("locking %s: %w", segments[0], err)
		}
		if err := errors.Join(os.Remove(segments[0]), lock.Close()); err != nil {
			return fmt.Errorf("purging %s: %w", segments[0], err)
		}
		segments = segments[1:]
	}
	return nil
}
