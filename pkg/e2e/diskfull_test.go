// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// smallDisk has room for the server, and for what somebody else fills it with.
const smallDisk = 320 << 20

// TestFullDisk fills the disk of the data directory, with something else than boxes, while boxes are written. They are
// read and deleted, and written again by themselves once there is room. Nothing that was acknowledged is lost.
func TestFullDisk(t *testing.T) {
	t.Parallel()
	disk := mountSmallDisk(t)
	p := newControlPlane(t, serverFlags("--data-dir="+filepath.Join(disk, "data"), "--snapshot-period=1s")...)
	n := p.newNamespace(t)
	deleted := n.create(newBox("deleted", pause))

	journal := &journal{acknowledged: map[string]int{}}
	stop := journal.startWriters(n)
	defer stop()
	n.awaitWrites(journal)
	file := fillDisk(t, disk)
	n.eventually("boxes are refused", func() error {
		if _, err := n.createOnce(newBox("refused", pause)); !isStorageFull(err) {
			return fmt.Errorf("got %v", err)
		}
		return nil
	})
	n.eventually("the server says so", func() error {
		return p.hasWarning(t, "the disk of the data directory is full")
	})
	p.awaitStorageEvent(t, "DiskFull")
	// etcd may have met the full disk in the middle of a write, and been started again.
	n.eventually("boxes are read", func() error {
		_, err := n.boxes.List(n.ctx, metav1.ListOptions{Limit: 1})
		return err
	})
	n.expectStored(journal.copy())
	n.eventually("a box is deleted", func() error {
		return n.boxes.Delete(n.ctx, deleted.Name, metav1.DeleteOptions{})
	})

	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	n.awaitWrites(journal)
	stop()
	n.expectStored(journal.copy())
	p.awaitStorageEvent(t, "StorageAvailable")
}

// awaitWrites waits until some more boxes have been written.
func (n *namespace) awaitWrites(journal *journal) {
	n.t.Helper()
	enough := journal.count() + writesBetweenKills
	n.eventually("boxes are being written", func() error {
		if count := journal.count(); count < enough {
			return fmt.Errorf("%d of %d writes were acknowledged", count, enough)
		}
		return nil
	})
}

// mountSmallDisk mounts a disk of the test's own, or skips the test where that is not allowed.
func mountSmallDisk(t *testing.T) string {
	t.Helper()
	// Not in TMPDIR, which may be long: the path of a socket may not.
	dir, err := os.MkdirTemp("/tmp", "mb-disk-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.Remove(dir) })
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, fmt.Sprintf("size=%d,mode=0700", smallDisk)); err != nil {
		t.Skipf("mounting a tmpfs: %v", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(dir, syscall.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	return dir
}

// fillDisk leaves no room on a disk, and returns what takes it up.
func fillDisk(t *testing.T, dir string) string {
	t.Helper()
	name := filepath.Join(dir, "of-somebody-else")
	file, err := os.OpenFile(name, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	for block := make([]byte, 1<<20); ; {
		if _, err := file.Write(block); errors.Is(err, syscall.ENOSPC) {
			return name
		} else if err != nil {
			t.Fatal(err)
		}
	}
}
