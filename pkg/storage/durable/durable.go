// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

// Package durable makes files and directories survive a power failure. POSIX guarantees that the contents of a file survive only if
// the file is synced, and that its name survives only if the directory is synced as well.
package durable

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"go.etcd.io/etcd/client/pkg/v3/fileutil"
)

// Sync syncs a file, or the names in a directory.
func Sync(path string) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(fileutil.Fsync(file), file.Close())
}

// SyncTree syncs a directory and all files and directories in it.
func SyncTree(dir string) error {
	return syncTree(dir, func(fs.DirEntry) bool { return true })
}

// SyncDirectories syncs the names in a directory, and in all directories below it.
func SyncDirectories(dir string) error {
	return syncTree(dir, fs.DirEntry.IsDir)
}

func syncTree(dir string, isWanted func(fs.DirEntry) bool) error {
	return filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || !isWanted(entry) {
			return err
		}
		return Sync(path)
	})
}

// MkdirAll creates a directory and its parents like os.MkdirAll, and syncs the names of all directories that it creates.
func MkdirAll(dir string, mode fs.FileMode) error {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return err
	}
	var missing []string
	for path := dir; isMissing(path); path = filepath.Dir(path) {
		missing = append(missing, path)
	}
	if err := os.MkdirAll(dir, mode); err != nil {
		return err
	}
	for _, path := range slices.Backward(missing) {
		// A parent cannot be synced if this user has no permission to read it.
		if err := Sync(filepath.Dir(path)); err != nil && !errors.Is(err, fs.ErrPermission) {
			return err
		}
	}
	return nil
}

func isMissing(path string) bool {
	_, err := os.Stat(path)
	return errors.Is(err, fs.ErrNotExist)
}
