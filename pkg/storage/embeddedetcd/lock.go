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

// ErrInUse is wrapped by errors about a data directory that another process uses.
var ErrInUse = errors.New("in use by another process")

// Lock locks the data directory dir until release is called, so that no etcd starts in it. It creates dir if it does not exist. It
// returns ErrInUse if the directory is already locked.
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

// directoryLock is the lock of a data directory. The kernel releases it when the process dies.
type directoryLock struct {
	file *fileutil.LockedFile
}

// lockDirectory locks a directory. It fails immediately if another process, or this one, has the lock.
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
	// Close releases the lock. The error of a failed close needs no action.
	_ = l.file.Close()
}
