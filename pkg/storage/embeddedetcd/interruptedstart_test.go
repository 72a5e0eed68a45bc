// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package embeddedetcd

import (
	"os"
	"path/filepath"
	"testing"

	"go.etcd.io/etcd/server/v3/storage/datadir"
	"go.etcd.io/etcd/server/v3/storage/wal"
	"go.uber.org/zap"
)

// loseLog replaces the log of an etcd that is not running by a log without entries, as an interrupted first start leaves it.
func loseLog(t *testing.T, data string) {
	t.Helper()
	walDir := datadir.ToWALDir(data)
	if err := os.RemoveAll(walDir); err != nil {
		t.Fatal(err)
	}
	log, err := wal.Create(zap.NewNop(), walDir, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := log.Close(); err != nil {
		t.Fatal(err)
	}
}

func TestInterruptedFirstStart(t *testing.T) {
	create := func(t *testing.T, file string) {
		t.Helper()
		if err := os.WriteFile(file, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	remove := func(t *testing.T, file string) {
		t.Helper()
		if err := os.Remove(file); err != nil {
			t.Fatal(err)
		}
	}
	for _, row := range []struct {
		name string
		// change changes the files of an etcd that has stopped.
		change func(t *testing.T, data string)
		want   bool
	}{
		{"a log with entries", func(*testing.T, string) {}, false},
		{"a log without entries and no database", func(t *testing.T, data string) {
			loseLog(t, data)
			remove(t, datadir.ToBackendFileName(data))
		}, true},
		{"a log without entries and a database with data", loseLog, false},
		{"a log without entries and a database that cannot be read", func(t *testing.T, data string) {
			loseLog(t, data)
			create(t, datadir.ToBackendFileName(data))
			if err := os.WriteFile(datadir.ToBackendFileName(data), make([]byte, 16<<10), 0o600); err != nil {
				t.Fatal(err)
			}
		}, false},
		{"a log without entries and a snapshot", func(t *testing.T, data string) {
			loseLog(t, data)
			remove(t, datadir.ToBackendFileName(data))
			create(t, filepath.Join(datadir.ToSnapDir(data), "0000000000000002-0000000000000005.snap"))
		}, false},
		{"a log with a second segment", func(t *testing.T, data string) {
			loseLog(t, data)
			remove(t, datadir.ToBackendFileName(data))
			create(t, filepath.Join(datadir.ToWALDir(data), "0000000000000001-0000000000000005.wal"))
		}, false},
		{"a log without its first segment", func(t *testing.T, data string) {
			loseLog(t, data)
			remove(t, datadir.ToBackendFileName(data))
			remove(t, filepath.Join(datadir.ToWALDir(data), firstSegment))
			create(t, filepath.Join(datadir.ToWALDir(data), "0000000000000001-0000000000000005.wal"))
		}, false},
		{"no log", func(t *testing.T, data string) {
			if err := os.RemoveAll(datadir.ToWALDir(data)); err != nil {
				t.Fatal(err)
			}
		}, false},
	} {
		t.Run(row.name, func(t *testing.T) {
			dir := newDir(t)
			start(t, dir)()
			data := filepath.Join(dir, "etcd")
			row.change(t, data)
			if got, err := wasFirstStartInterrupted(data); got != row.want || err != nil && row.want {
				t.Errorf("got %t, %v", got, err)
			}
		})
	}
}

func TestAnInterruptedFirstStartIsRepeated(t *testing.T) {
	dir := newDir(t)
	start(t, dir)()
	data := filepath.Join(dir, "etcd")
	loseLog(t, data)
	if err := os.Remove(datadir.ToBackendFileName(data)); err != nil {
		t.Fatal(err)
	}
	start(t, dir)
	put(t, dir, "box", "web")
	checkValue(t, dir, "box", "web")
}
