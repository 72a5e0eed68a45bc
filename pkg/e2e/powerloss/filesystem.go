// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package powerloss

import (
	"fmt"
	"syscall"
	"time"

	"github.com/hanwen/go-fuse/v2/fs"
	"github.com/hanwen/go-fuse/v2/fuse"
)

// cacheTime is the time for which the kernel can cache attributes, because only its programs change them.
const cacheTime = time.Hour

// FileSystem is a mounted file system.
type FileSystem struct {
	dir  string
	disk *disk
}

// Mount mounts an empty file system on a directory. The caller must unmount it. The seed determines the parts of unsynced data that
// survive a cut.
func Mount(dir string, seed uint64) (*FileSystem, error) {
	f := &FileSystem{dir: dir, disk: newDisk(seed)}
	return f, f.mount()
}

func (f *FileSystem) mount() error {
	timeout := cacheTime
	_, err := fs.Mount(f.dir, &node{disk: f.disk, entry: f.disk.root}, &fs.Options{
		EntryTimeout: &timeout,
		AttrTimeout:  &timeout,
		MountOptions: fuse.MountOptions{Name: "powerloss", FsName: "powerloss", DirectMountStrict: true, DisableXAttrs: true},
	})
	if err != nil {
		return fmt.Errorf("mounting on %s: %w", f.dir, err)
	}
	return nil
}

// Cut simulates a power cut: unsynced data is lost, except for a random part. No program may use the file system meanwhile.
func (f *FileSystem) Cut() error {
	if err := f.Unmount(); err != nil {
		return err
	}
	f.disk.mu.Lock()
	f.disk.cut()
	f.disk.mu.Unlock()
	return f.mount()
}

// Unmount unmounts the file system, even while programs use it. It does not wait until the file system is unreachable, because
// another mount namespace may still have it.
func (f *FileSystem) Unmount() error {
	if err := syscall.Unmount(f.dir, syscall.MNT_DETACH); err != nil {
		return fmt.Errorf("unmounting %s: %w", f.dir, err)
	}
	return nil
}
