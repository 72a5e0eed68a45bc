// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package storage

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/e2e/framework"
)

// smallDisk is the size of a disk for the server and for the files with which another process fills it.
const smallDisk = 320 << 20

// TestFullDiskLosesNothing fills the disk of the data directory with other files while boxes are written. Clients can still read
// and delete boxes. They can write boxes again after space is free. No acknowledged write is lost.
func TestFullDiskLosesNothing(t *testing.T) {
	t.Parallel()
	disk := mountSmallDisk(t)
	p := framework.NewControlPlane(t, framework.ServerFlags("--data-dir="+filepath.Join(disk, "data"), "--snapshot-period=1s")...)
	n := p.NewNamespace(t)
	deleted := n.CreateBox(framework.NewBox("deleted", framework.Pause))

	journal := &journal{acknowledged: map[string]int{}}
	stop := journal.startWriters(n)
	defer stop()
	awaitWrites(n, journal)
	file := fillDisk(t, disk)
	n.Eventually("boxes are refused", func() error {
		if _, err := createOnce(n, framework.NewBox("refused", framework.Pause)); !isStorageFull(err) {
			return fmt.Errorf("got %v", err)
		}
		return nil
	})
	n.Eventually("the server says so", func() error {
		return hasWarning(t, p, "the disk of the data directory is full")
	})
	awaitStorageEvent(t, p, "DiskFull")
	// etcd may have failed because of the full disk during a write, and the server may have restarted.
	n.Eventually("boxes are read", func() error {
		_, err := n.Boxes.List(n.Ctx, metav1.ListOptions{Limit: 1})
		return err
	})
	expectStored(n, journal.copy())
	n.Eventually("a box is deleted", func() error {
		return n.Boxes.Delete(n.Ctx, deleted.Name, metav1.DeleteOptions{})
	})

	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	awaitWrites(n, journal)
	stop()
	expectStored(n, journal.copy())
	awaitStorageEvent(t, p, "StorageAvailable")
}

// awaitWrites waits until some more boxes have been written.
func awaitWrites(n *framework.Namespace, journal *journal) {
	n.T.Helper()
	enough := journal.count() + writesBetweenKills
	n.Eventually("boxes are being written", func() error {
		if count := journal.count(); count < enough {
			return fmt.Errorf("%d of %d writes were acknowledged", count, enough)
		}
		return nil
	})
}

// mountSmallDisk mounts a disk for the test. It skips the test without the permission to mount.
func mountSmallDisk(t *testing.T) string {
	t.Helper()
	// Do not use TMPDIR, which may be too long for the path of a socket.
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

// fillDisk fills a disk with a file, and returns the path of the file.
func fillDisk(t *testing.T, dir string) string {
	t.Helper()
	name := filepath.Join(dir, "of-another-process")
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
