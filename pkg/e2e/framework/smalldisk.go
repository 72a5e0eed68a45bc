// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package framework

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// smallDiskSize is the size of a disk for the data directory of a server and for the file that fills the disk.
const smallDiskSize = 320 << 20

// SmallDisk is a file system in memory that a test can fill.
type SmallDisk struct {
	// Dir is where it is mounted.
	Dir string
}

// NewSmallDisk mounts a disk for the test. It returns an error without the permission to mount.
func NewSmallDisk(t *testing.T) (*SmallDisk, error) {
	t.Helper()
	// Do not use TMPDIR, which may be too long for the path of a socket.
	dir, err := os.MkdirTemp("/tmp", "mb-disk-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.Remove(dir) })
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, fmt.Sprintf("size=%d,mode=0700", smallDiskSize)); err != nil {
		return nil, fmt.Errorf("mounting a tmpfs: %w", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(dir, syscall.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	return &SmallDisk{dir}, nil
}

// filler is the path of the file that fills the disk.
func (d *SmallDisk) filler() string { return filepath.Join(d.Dir, "of-another-process") }

// Fill fills the disk with a file.
func (d *SmallDisk) Fill(t *testing.T) {
	t.Helper()
	file, err := os.OpenFile(d.filler(), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	for block := make([]byte, 1<<20); ; {
		if _, err := file.Write(block); errors.Is(err, syscall.ENOSPC) {
			return
		} else if err != nil {
			t.Fatal(err)
		}
	}
}

// Free removes the file that fills the disk.
func (d *SmallDisk) Free(t *testing.T) {
	t.Helper()
	if err := os.Remove(d.filler()); err != nil {
		t.Fatal(err)
	}
}
