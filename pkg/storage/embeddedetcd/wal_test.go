// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package embeddedetcd

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.etcd.io/etcd/client/pkg/v3/fileutil"
)

func TestPurgeWAL(t *testing.T) {
	for _, row := range []struct {
		name   string
		files  []string
		locked string
		want   []string
	}{
		{"what etcd needs is kept, with all after it", []string{"1.wal", "2.wal", "3.wal", "4.wal"}, "3.wal", []string{"3.wal", "4.wal"}},
		{"nothing is purged", []string{"1.wal", "2.wal"}, "1.wal", []string{"1.wal", "2.wal"}},
		{"the last is kept", []string{"1.wal", "2.wal"}, "", []string{"2.wal"}},
		{"other files are kept", []string{"0.tmp", "1.wal", "2.wal"}, "", []string{"0.tmp", "2.wal"}},
		{"there is no log yet", nil, "", nil},
	} {
		t.Run(row.name, func(t *testing.T) {
			dir := t.TempDir()
			for _, name := range row.files {
				if err := os.WriteFile(filepath.Join(dir, name), nil, 0o600); err != nil {
					t.Fatal(err)
				}
			}
			if row.locked != "" {
				lock, err := fileutil.TryLockFile(filepath.Join(dir, row.locked), os.O_WRONLY, 0o600)
				if err != nil {
					t.Fatal(err)
				}
				defer lock.Close()
			}
			if err := purgeWAL(dir); err != nil {
				t.Fatal(err)
			}
			entries, err := os.ReadDir(dir)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, entry := range entries {
				got = append(got, entry.Name())
			}
			if diff := cmp.Diff(row.want, got); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}
