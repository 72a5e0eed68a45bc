// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package embeddedetcd

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"
	"k8s.io/klog/v2"
)

const patience = 30 * time.Second

// eventually calls check until it returns nil. After the timeout, it fails the test with the last error.
func eventually(t *testing.T, what string, check func() error) {
	t.Helper()
	deadline := time.Now().Add(patience)
	for err := check(); err != nil; err = check() {
		if time.Now().After(deadline) {
			t.Fatalf("timed out after %s waiting until %s: %v", patience, what, err)
		}
		time.Sleep(20 * time.Millisecond)
	}
}

// startSmall starts an etcd with the smallest quota. The client can write more than the server allows for boxes.
func startSmall(t *testing.T, dir string) (*Server, *clientv3.Client) {
	t.Helper()
	server, err := Start(klog.NewContext(t.Context(), klog.Logger{}), Config{Dir: dir, QuotaBackendBytes: MinQuotaBytes})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(server.Stop)
	client := newClient(t, dir)
	t.Cleanup(func() { client.Close() })
	return server, client
}

// value has the size of one of the largest boxes.
var value = string(bytes.Repeat([]byte("0123456789abcdef"), 90<<10/16))

// fill writes keys until etcd refuses, and returns the number of written keys.
func fill(t *testing.T, client *clientv3.Client) int {
	t.Helper()
	for i := range 10_000 {
		_, err := client.Put(t.Context(), fmt.Sprintf("box-%05d", i), value)
		if errors.Is(err, rpctypes.ErrNoSpace) {
			return i
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	t.Fatal("etcd did not become full")
	return 0
}

func expectShortage(server *Server, want Reason) error {
	switch shortage := server.Shortage(); {
	case want == "" && shortage != nil:
		return fmt.Errorf("there is a shortage: %s", shortage.Message)
	case want != "" && (shortage == nil || shortage.Reason != want):
		return fmt.Errorf("the shortage is %+v, want %s", shortage, want)
	}
	return nil
}

// expectWritable waits until etcd accepts writes and there is no shortage.
func expectWritable(t *testing.T, server *Server, client *clientv3.Client) {
	t.Helper()
	eventually(t, "etcd accepts writes again", func() error {
		if _, err := client.Put(t.Context(), "new", "box"); err != nil {
			return err
		}
		return expectShortage(server, "")
	})
}

// A full etcd accepts reads and deletions, and accepts writes again after enough deletions.
func TestAFullEtcdRecovers(t *testing.T) {
	t.Parallel()
	dir := newDir(t)
	server, client := startSmall(t, dir)
	count := fill(t, client)
	if err := expectShortage(server, ReasonQuotaReached); err != nil {
		t.Error(err)
	}
	for i := range count {
		key := fmt.Sprintf("box-%05d", i)
		response, err := client.Get(t.Context(), key)
		if err != nil || len(response.Kvs) != 1 {
			t.Fatalf("%s, of %d that were written: %v, %v", key, count, response, err)
		}
	}
	for i := range count * 3 / 4 {
		key := fmt.Sprintf("box-%05d", i)
		// An API server deletes in this way.
		if _, err := client.Txn(t.Context()).Then(clientv3.OpDelete(key)).Else(clientv3.OpGet(key)).Commit(); err != nil {
			t.Fatal(err)
		}
	}
	expectWritable(t, server, client)
}

// The last deletion ends the shortage as well, although no write follows it. etcd frees the pages of a concurrent read only with a
// write after the end of the read.
func TestTheLastDeletionEndsTheShortage(t *testing.T) {
	t.Parallel()
	server, client := startSmall(t, newDir(t))
	server.maintenance.close() // the test runs its steps
	m := &maintenance{etcd: server.etcd.Server, client: client, space: server.space}
	backend := server.etcd.Server.Backend()
	// Write a quarter more: pages that a commit has just replaced count as well for a moment.
	for i := range int(server.space.forBoxes()) / len(value) * 5 / 4 {
		if _, err := client.Put(t.Context(), fmt.Sprintf("box-%05d", i), value); err != nil {
			t.Fatal(err)
		}
	}
	backend.ForceCommit() // a commit updates the bytes in use
	reader := backend.ConcurrentReadTx()
	reader.RLock()
	if _, err := client.Delete(t.Context(), "box-", clientv3.WithPrefix()); err != nil {
		t.Error(err)
	}
	if err := m.compact(t.Context()); err != nil {
		t.Error(err)
	}
	backend.ForceCommit()
	if err := expectShortage(server, ReasonQuotaReached); err != nil {
		t.Error(err)
	}
	reader.RUnlock()
	eventually(t, "the shortage ends", func() error {
		if err := m.recount(t.Context()); err != nil {
			t.Fatal(err)
		}
		return expectShortage(server, "")
	})
}

// Updates of the same few boxes must not fill etcd with their history.
func TestHistoryDoesNotFillEtcd(t *testing.T) {
	if testing.Short() {
		t.Skip("the test writes more than the quota of etcd")
	}
	t.Parallel()
	server, client := startSmall(t, newDir(t))
	for range 2 {
		fillWithHistory(t, client)
		expectWritable(t, server, client)
	}
}

func fillWithHistory(t *testing.T, client *clientv3.Client) {
	t.Helper()
	for range 2 * MinQuotaBytes / len(value) {
		if _, err := client.Put(t.Context(), "box", value); errors.Is(err, rpctypes.ErrNoSpace) {
			return
		} else if err != nil {
			t.Fatal(err)
		}
	}
}

// A server that was stopped while it was full recovers as well, for example with a larger quota.
func TestAFullEtcdRecoversAfterARestart(t *testing.T) {
	t.Parallel()
	dir := newDir(t)
	ctx := klog.NewContext(t.Context(), klog.Logger{})
	server, err := Start(ctx, Config{Dir: dir, QuotaBackendBytes: MinQuotaBytes})
	if err != nil {
		t.Fatal(err)
	}
	client := newClient(t, dir)
	count := fill(t, client)
	client.Close()
	server.Stop()

	server, err = Start(ctx, Config{Dir: dir, QuotaBackendBytes: 4 * MinQuotaBytes})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(server.Stop)
	client = newClient(t, dir)
	t.Cleanup(func() { client.Close() })
	expectWritable(t, server, client)
	checkValue(t, dir, fmt.Sprintf("box-%05d", count-1), value)
}

// mountTmpfs mounts a small disk. It skips the test without the permission to mount.
func mountTmpfs(t *testing.T, bytes int64) string {
	t.Helper()
	dir := filepath.Dir(newDir(t))
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, fmt.Sprintf("size=%d,mode=0700", bytes)); err != nil {
		t.Skipf("mounting a tmpfs: %v", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(dir, syscall.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	return dir
}

// fillDisk writes a file that leaves almost no free space on the disk of dir. Without any free space, the next commit of etcd would
// end the process if it came before the release of the reserve.
func fillDisk(t *testing.T, dir string) (file string) {
	t.Helper()
	file = filepath.Join(dir, "of-another-process")
	disk, err := os.OpenFile(file, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	defer disk.Close()
	for block := make([]byte, 1<<20); ; {
		free, err := FreeBytes(dir)
		if err != nil {
			t.Fatal(err)
		}
		if free < releaseBytes/4 {
			return file
		}
		if _, err := disk.Write(block); err != nil {
			t.Fatal(err)
		}
	}
}

// On a disk that another process has filled, clients can read and delete boxes. They can write again after space is free.
func TestAFullDisk(t *testing.T) {
	t.Parallel()
	disk := mountTmpfs(t, 256<<20)
	dir := filepath.Join(disk, "data")
	server, client := startSmall(t, dir)
	const boxes = 60
	for i := range boxes {
		if _, err := client.Put(t.Context(), fmt.Sprintf("box-%05d", i), value); err != nil {
			t.Fatal(err)
		}
	}
	if err := expectShortage(server, ""); err != nil {
		t.Fatal(err)
	}

	file := fillDisk(t, disk)
	if err := expectShortage(server, ReasonDiskFull); err != nil {
		t.Error(err)
	}
	eventually(t, "the reserve is released", func() error {
		if free, err := FreeBytes(dir); err != nil || free < reserveBytes-walSegmentBytes {
			return fmt.Errorf("%s are free, %v", Quantity(free), err)
		}
		return nil
	})
	for i := range boxes {
		if _, err := client.Delete(t.Context(), fmt.Sprintf("box-%05d", i)); err != nil {
			t.Fatal(err)
		}
	}
	if err := expectShortage(server, ReasonDiskFull); err != nil {
		t.Error(err)
	}

	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	expectWritable(t, server, client)
	eventually(t, "the reserve is taken again", func() error {
		_, err := os.Stat(reservePath(dir))
		return err
	})
}

// Refusals say the same of a disk whether or not the reserve has been given up.
func TestTheReserveIsNotAvailable(t *testing.T) {
	const mib = 1 << 20
	for _, row := range []struct {
		name             string
		held             bool
		free, wantToHave int64
	}{
		{"the reserve is held", true, 63 * mib, 63 * mib},
		{"it has been given up", false, 95 * mib, 63 * mib},
		{"there is hardly room for it", false, 8 * mib, 0},
	} {
		t.Run(row.name, func(t *testing.T) {
			if got := (&reserve{held: row.held}).available(row.free); got != row.wantToHave {
				t.Errorf("%s are available, want %s", Quantity(got), Quantity(row.wantToHave))
			}
		})
	}
}

func TestQuotaFor(t *testing.T) {
	const mib = 1 << 20
	for _, row := range []struct {
		name       string
		room, want int64
	}{
		{"a disk that is too small for any", 100 * mib, 16 * mib},
		{"a small disk, of which half is for a copy", 512 * mib, 160 * mib},
		{"the volume of the manifests", 10 << 30, 5024 * mib},
		{"a large disk", 1 << 40, 8 << 30},
	} {
		t.Run(row.name, func(t *testing.T) {
			if got := quotaFor(row.room); got != row.want {
				t.Errorf("got %s, want %s", Quantity(got), Quantity(row.want))
			}
		})
	}
}

func TestHeadroom(t *testing.T) {
	for quota, want := range map[int64]int64{16 << 20: 8 << 20, 32 << 20: 8 << 20, 64 << 20: 16 << 20, 8 << 30: 2 << 30} {
		if got := headroom(quota); got != want {
			t.Errorf("of %s: got %s, want %s", Quantity(quota), Quantity(got), Quantity(want))
		}
	}
}

func TestQuantity(t *testing.T) {
	for bytes, want := range map[int64]string{0: "0", 1023: "1023", 1536: "1.5Ki", 90 << 20: "90.0Mi", 8 << 30: "8.0Gi"} {
		if got := Quantity(bytes); got != want {
			t.Errorf("%d: got %s, want %s", bytes, got, want)
		}
	}
}

func TestReserve(t *testing.T) {
	for _, row := range []struct {
		name     string
		held     bool
		free     int64
		wantHeld bool
	}{
		{"kept while there is room", true, MinFreeBytes, true},
		{"kept while there is little room", true, releaseBytes, true},
		{"given up when there is none", true, releaseBytes - 1, false},
		{"not taken as long as it would make room scarce", false, reserveBytes + MinFreeBytes - 1, false},
		{"taken when there is room for it", false, reserveBytes + MinFreeBytes, true},
	} {
		t.Run(row.name, func(t *testing.T) {
			dir := t.TempDir()
			r := newReserve(dir)
			if r.held {
				t.Fatal("there is a reserve in an empty directory")
			}
			if row.held {
				if err := r.take(); err != nil {
					t.Fatal(err)
				}
			}
			if err := r.adjust(row.free); err != nil {
				t.Fatal(err)
			}
			info, err := os.Stat(reservePath(dir))
			if exists := err == nil && info.Size() == reserveBytes; r.held != row.wantHeld || exists != row.wantHeld {
				t.Errorf("held: %t, on the disk: %t, want %t", r.held, exists, row.wantHeld)
			}
			if again := newReserve(dir); again.held != r.held {
				t.Errorf("after a restart, held: %t, want %t", again.held, r.held)
			}
		})
	}
}
