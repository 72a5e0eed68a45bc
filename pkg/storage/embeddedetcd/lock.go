// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package embeddedetcd

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"go.etcd.io/etcd/client/pkg/v3/fileutil"
	"k8s.io/klog/v2"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/storage/durable"
)

// ErrInUse is wrapped by the errors about a data directory that another process uses.
var ErrInUse = errors.New("in use by another process")

// Lock keeps the data directory dir, which is created when it does not exist, from every etcd until release is called.
func Lock(ctx context.Context, dir string) (release func(), err error) {
	if err := durable.MkdirAll(dir, privateDirMode); err != nil {
		return nil, fmt.Errorf("creating the data directory: %w", err)
	}
	isOpen, err := restrictPermissions(dir)
	if err != nil {
		return nil, err
	}
	if isOpen {
		klog.FromContext(ctx).Info("The data directory is world-writable. Make sure that no other user has access to its volume", "dir", dir)
	}
	lock, err := lockDirectory(dir)
	if err != nil {
		return nil, err
	}
	return lock.release, nil
}

// directoryLock keeps a data directory to one process. The kernel releases it when the process dies.
type directoryLock struct {
	file *fileutil.LockedFile
}

// lockDirectory fails at once when another process, or this one, has the lock.
func lockDirectory(dir string) (*directoryLock, error) {
	file, err := fileutil.TryLockFile(filepath.Join(dir, "lock"), os.O_CREATE|os.O_WRONLY, fileutil.PrivateFileMode)
	if errors.Is(err, fileutil.ErrLocked) {
		return nil, fmt.Errorf("data directory %s is %w: stop that process, or specify another --data-dir", dir, ErrInUse)
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
