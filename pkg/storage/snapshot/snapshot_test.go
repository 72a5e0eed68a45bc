// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package snapshot

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"
	"k8s.io/klog/v2"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/storage/embeddedetcd"
)

// newDir returns the path of a directory that does not exist yet. It is short enough for the path of a socket.
func newDir(t *testing.T) string {
	t.Helper()
	parent, err := os.MkdirTemp("", "snap")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(parent) })
	return filepath.Join(parent, "data")
}

// start starts an etcd and returns a client of it.
func start(t *testing.T, dir string) (client *clientv3.Client, stop func()) {
	t.Helper()
	etcd, err := embeddedetcd.Start(klog.NewContext(t.Context(), klog.Logger{}), embeddedetcd.Config{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	endpoint, err := embeddedetcd.Endpoint(dir)
	if err != nil {
		t.Fatal(err)
	}
	client, err = clientv3.New(clientv3.Config{Endpoints: []string{endpoint}, Logger: zap.NewNop()})
	if err != nil {
		t.Fatal(err)
	}
	isRunning := true
	stop = func() {
		if isRunning {
			client.Close()
			etcd.Stop()
		}
		isRunning = false
	}
	t.Cleanup(stop)
	return client, stop
}

func put(t *testing.T, client *clientv3.Client, key, value string) (revision int64) {
	t.Helper()
	response, err := client.Put(t.Context(), key, value)
	if err != nil {
		t.Fatal(err)
	}
	return response.Header.Revision
}

// expectNames checks the names of the files in a directory.
func expectNames(t *testing.T, dir string, want ...string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, entry := range entries {
		got = append(got, entry.Name())
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("files of %s, -want +got:\n%s", dir, diff)
	}
}

// saved returns a snapshot with one key, in a separate directory, and its status.
func saved(t *testing.T) (file string, status *Status) {
	t.Helper()
	client, stop := start(t, newDir(t))
	put(t, client, "box", "old")
	put(t, client, "gone", "box")
	if _, err := client.Delete(t.Context(), "gone"); err != nil {
		t.Fatal(err)
	}
	revision := put(t, client, "box", "saved")
	file = filepath.Join(t.TempDir(), "boxes.db")
	status, err := Save(t.Context(), client, file)
	if err != nil {
		t.Fatal(err)
	}
	stop()
	if status.Revision != revision || status.Keys != 1 || status.Bytes == 0 || status.Hash == 0 {
		t.Errorf("at revision %d: %+v", revision, status)
	}
	expectNames(t, filepath.Dir(file), "boxes.db")
	return file, status
}

func TestSaveAndRestore(t *testing.T) {
	t.Parallel()
	file, status := saved(t)
	read, err := Read(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(status, read); diff != "" {
		t.Errorf("status, -saved +read:\n%s", diff)
	}

	dir := newDir(t)
	restored, err := Restore(t.Context(), file, dir)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(status, restored); diff != "" {
		t.Errorf("status, -saved +restored:\n%s", diff)
	}
	expectNames(t, dir, "etcd", "lock")
	client, stop := start(t, dir)
	response, err := client.Get(t.Context(), "", clientv3.WithPrefix())
	if err != nil || len(response.Kvs) != 1 || string(response.Kvs[0].Value) != "saved" {
		t.Fatalf("got %v, %v", response, err)
	}
	if got := response.Header.Revision; got < status.Revision+RevisionBump {
		t.Errorf("the revision went from %d to %d only", status.Revision, got)
	}

	// A client that has seen later revisions than the snapshot must list again.
	watch := <-client.Watch(t.Context(), "", clientv3.WithPrefix(), clientv3.WithRev(status.Revision+1000))
	if !errors.Is(watch.Err(), rpctypes.ErrCompacted) {
		t.Errorf("a watch from a revision after the snapshot: %v", watch.Err())
	}

	put(t, client, "box", "new")
	stop()
	client, _ = start(t, dir)
	if response, err = client.Get(t.Context(), "box"); err != nil || string(response.Kvs[0].Value) != "new" {
		t.Errorf("after a restart: %v, %v", response, err)
	}
}

func TestARestoredEtcdIsAnotherCluster(t *testing.T) {
	t.Parallel()
	file, _ := saved(t)
	seen := map[uint64]bool{}
	for range 2 {
		dir := newDir(t)
		if _, err := Restore(t.Context(), file, dir); err != nil {
			t.Fatal(err)
		}
		client, stop := start(t, dir)
		response, err := client.Get(t.Context(), "box")
		if err != nil {
			t.Fatal(err)
		}
		seen[response.Header.ClusterId] = true
		stop()
	}
	if len(seen) != 2 {
		t.Errorf("two restored etcds have the IDs %v", seen)
	}
}

func TestACorruptSnapshotIsRefused(t *testing.T) {
	t.Parallel()
	file, _ := saved(t)
	content, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	flipped := append([]byte{}, content...)
	flipped[len(flipped)/2] ^= 1
	for _, row := range []struct {
		name    string
		content []byte
		want    string
	}{
		{"damaged", flipped, "the checksum does not match"},
		{"truncated", content[:len(content)-100], "the file has no checksum at its end"},
		{"truncated by a page", content[:len(content)-4096], "the checksum does not match"},
		{"the database of a data directory", content[:len(content)-32], "the file has no checksum at its end"},
		{"empty", nil, "the file has no checksum at its end"},
		{"another file", []byte("boxes"), "the file has no checksum at its end"},
	} {
		t.Run(row.name, func(t *testing.T) {
			file, dir := filepath.Join(t.TempDir(), "boxes.db"), newDir(t)
			if err := os.WriteFile(file, row.content, 0o600); err != nil {
				t.Fatal(err)
			}
			_, readErr := Read(file)
			_, restoreErr := Restore(t.Context(), file, dir)
			for name, err := range map[string]error{"Read": readErr, "Restore": restoreErr} {
				if err == nil || !strings.Contains(err.Error(), file) || !strings.Contains(err.Error(), row.want) {
					t.Errorf("%s: %v, want %q", name, err, row.want)
				}
			}
			if _, err := os.Stat(dir); !os.IsNotExist(err) {
				t.Errorf("the data directory: %v", err)
			}
		})
	}
}

func TestRestoreOverwritesNothing(t *testing.T) {
	t.Parallel()
	file, _ := saved(t)
	dir := newDir(t)
	client, stop := start(t, dir)
	put(t, client, "box", "kept")
	if _, err := Restore(t.Context(), file, dir); !errors.Is(err, embeddedetcd.ErrInUse) {
		t.Errorf("while a server runs: %v", err)
	}
	stop()
	if _, err := Restore(t.Context(), file, dir); err == nil || !strings.Contains(err.Error(), filepath.Join(dir, "etcd")+" already has data") {
		t.Errorf("of a server that was stopped: %v", err)
	}
	client, _ = start(t, dir)
	if response, err := client.Get(t.Context(), "box"); err != nil || string(response.Kvs[0].Value) != "kept" {
		t.Errorf("got %v, %v", response, err)
	}
}

func TestRestoreAfterAnInterruptedRestore(t *testing.T) {
	t.Parallel()
	file, _ := saved(t)
	dir := newDir(t)
	if err := os.MkdirAll(filepath.Join(dir, "etcd"+partSuffix, "member"), 0o700); err != nil {
		t.Fatal(err)
	}
	if _, err := Restore(t.Context(), file, dir); err != nil {
		t.Fatal(err)
	}
	expectNames(t, dir, "etcd", "lock")
}

func TestSaveOverwritesNothing(t *testing.T) {
	t.Parallel()
	file, _ := saved(t)
	client, _ := start(t, newDir(t))
	if _, err := Save(t.Context(), client, file); !errors.Is(err, os.ErrExist) {
		t.Errorf("got %v", err)
	}
}

func TestAFailedSaveLeavesNoFile(t *testing.T) {
	t.Parallel()
	client, stop := start(t, newDir(t))
	stop()
	dir := t.TempDir()
	if _, err := Save(t.Context(), client, filepath.Join(dir, "boxes.db")); err == nil {
		t.Error("saved a snapshot of a stopped etcd")
	}
	expectNames(t, dir)
}
