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

// directoryLock keeps a data directory to one process. The kernel releases it when the process dies.
type directoryLock struct {
	file *fileutil.LockedFile
}

// lockDirectory fails at once when another process, or this one, has the lock.
func lockDirectory(dir string) (*directoryLock, error) {
	file, err := fileutil.TryLockFile(filepath.Join(dir, "lock"), os.O_CREATE|os.O_WRONLY, fileutil.PrivateFileMode)
	if errors.Is(err, fileutil.ErrLocked) {
		return nil, fmt.Errorf("data directory %s is in use by another process: stop that one, or give this one a --data-dir of its own", dir)
	}
	if err != nil {
		return nil, fmt.Errorf("locking data directory %s: %w", dir, err)
	}
	return &directoryLock{file: file}, nil
}

func (l *directoryLock) release() {
	// Closing the file releases the lock; there is nothing to do about a close that fails.
	_ = l.file.Close()
}
