// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package embeddedetcd

import (
	"fmt"
	"os"
	"syscall"
)

const privateDirMode = 0o700

// refuseShared refuses a data directory in which everybody may put files, for they could be taken for ours. It may
// belong to somebody else, and be open to its group: that is how a volume of Kubernetes is mounted for a process that
// is not root. What is in it is private.
func refuseShared(dir string) error {
	info, err := os.Stat(dir)
	if err != nil {
		return fmt.Errorf("reading the mode of the data directory: %w", err)
	}
	if info.Mode().Perm()&0o002 != 0 {
		return fmt.Errorf("data directory %s has the mode %#o, with which everybody may write to it: chmod it to 0700, or give a directory of its own", dir, info.Mode().Perm())
	}
	return nil
}

// MakePrivateDir makes sure that the directory exists, is this user's, and is nobody else's to read.
func MakePrivateDir(dir string) error {
	if err := os.MkdirAll(dir, privateDirMode); err != nil {
		return fmt.Errorf("creating %s: %w", dir, err)
	}
	info, err := os.Lstat(dir)
	if err != nil {
		return fmt.Errorf("reading the mode of %s: %w", dir, err)
	}
	if !info.IsDir() {
		return fmt.Errorf("%s is no directory", dir)
	}
	if owner, self := info.Sys().(*syscall.Stat_t).Uid, os.Geteuid(); int(owner) != self {
		return fmt.Errorf("%s belongs to user %d and has to belong to user %d, as whom this runs", dir, owner, self)
	}
	if info.Mode().Perm() == privateDirMode {
		return nil
	}
	if err := os.Chmod(dir, privateDirMode); err != nil {
		return fmt.Errorf("keeping %s to its owner: %w", dir, err)
	}
	return nil
}
