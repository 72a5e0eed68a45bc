// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package storage

import (
	"fmt"
	"path/filepath"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/e2e/framework"
)

// TestFullDiskLosesNothing fills the disk of the data directory with other files while boxes are written. Clients can still read
// and delete boxes. They can write boxes again after space is free. No acknowledged write is lost.
func TestFullDiskLosesNothing(t *testing.T) {
	t.Parallel()
	disk, err := framework.NewSmallDisk(t)
	if err != nil {
		t.Skip(err)
	}
	p := framework.NewControlPlane(t, framework.ServerFlags("--data-dir="+filepath.Join(disk.Dir, "data"), "--snapshot-period=1s")...)
	n := p.NewNamespace(t)
	deleted := n.CreateBox(framework.NewBox("deleted", framework.Pause))

	journal := &journal{acknowledged: map[string]int{}}
	stop := journal.startWriters(n)
	defer stop()
	awaitWrites(n, journal)
	disk.Fill(t)
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

	disk.Free(t)
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
