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

// purgeWAL removes the segments of the write-ahead log in dir that etcd does not need any more: it keeps the others
// locked. etcd itself does so every 30 seconds, in which large writes fill a small disk.
func purgeWAL(dir string) error {
	segments, err := filepath.Glob(filepath.Join(dir, "*.wal"))
	if err != nil {
		return fmt.Errorf("listing the segments of the log: %w", err)
	}
	// They are sorted, and the last is the one that is written to.
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
