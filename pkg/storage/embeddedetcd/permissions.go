// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package embeddedetcd

import (
	"fmt"
	"os"
	"syscall"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/storage/durable"
)

const privateDirMode = 0o700

// restrictPermissions removes the permission of other users to create files in a data directory of this user: the server could
// mistake their files for its own. It refuses a directory for the files of all users, such as /tmp. It does not change a directory
// of another user, and returns isOpen if it is world-writable: some provisioners create such volumes, and only the pod of the
// server mounts them. The files of etcd in the directory are private in any case.
func restrictPermissions(dir string) (isOpen bool, err error) {
	info, err := os.Stat(dir)
	if err != nil {
		return false, fmt.Errorf("reading the mode of the data directory: %w", err)
	}
	const othersWrite = 0o002
	switch mode := info.Mode(); {
	case mode.Perm()&othersWrite == 0:
		return false, nil
	case mode&os.ModeSticky != 0:
		return false, fmt.Errorf("data directory %s has the mode %s, and is shared by all users: specify a separate directory", dir, mode)
	case isOwn(info):
		if err := os.Chmod(dir, mode&^othersWrite); err != nil {
			return false, fmt.Errorf("restricting the permissions of the data directory: %w", err)
		}
		return false, nil
	}
	return true, nil
}

func isOwn(info os.FileInfo) bool { return int(info.Sys().(*syscall.Stat_t).Uid) == os.Geteuid() }

// MakePrivateDir creates the directory if it does not exist, so that it survives a power failure, and makes sure that only this
// user can read it. It fails if the directory belongs to another user.
func MakePrivateDir(dir string) error {
	if err := durable.MkdirAll(dir, privateDirMode); err != nil {
		return fmt.Errorf("creating %s: %w", dir, err)
	}
	info, err := os.Lstat(dir)
	if err != nil {
		return fmt.Errorf("reading the mode of %s: %w", dir, err)
	}
	if !info.IsDir() {
		return fmt.Errorf("%s is not a directory", dir)
	}
	if !isOwn(info) {
		return fmt.Errorf("%s belongs to user %d, but must belong to user %d, which runs this process", dir, info.Sys().(*syscall.Stat_t).Uid, os.Geteuid())
	}
	if info.Mode().Perm() == privateDirMode {
		return nil
	}
	if err := os.Chmod(dir, privateDirMode); err != nil {
		return fmt.Errorf("restricting the permissions of %s: %w", dir, err)
	}
	return nil
}
