// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package embeddedetcd

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"syscall"
)

// FreeBytes returns the number of bytes that this process can still write to the file system of path.
func FreeBytes(path string) (int64, error) {
	var stat syscall.Statfs_t
	if err := syscall.Statfs(path, &stat); err != nil {
		return 0, fmt.Errorf("reading the free space of %s: %w", path, err)
	}
	return int64(stat.Bavail) * int64(stat.Bsize), nil
}

// usedBytes returns the size of all files below path in bytes, 0 if path does not exist. It ignores files that are removed
// meanwhile.
func usedBytes(path string) (int64, error) {
	var total int64
	err := filepath.WalkDir(path, func(_ string, entry fs.DirEntry, err error) error {
		if err == nil && entry.Type().IsRegular() {
			var info fs.FileInfo
			if info, err = entry.Info(); err == nil {
				total += info.Size()
			}
		}
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		return err
	})
	if err != nil {
		return 0, fmt.Errorf("reading the size of %s: %w", path, err)
	}
	return total, nil
}
