// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package embeddedetcd

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const otherUser = 65534

func chmod(t *testing.T, mode os.FileMode, paths ...string) {
	t.Helper()
	for _, path := range paths {
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
	}
}

// giveAway changes the owner of a directory. It skips the test without the permission to do so.
func giveAway(t *testing.T, dir string) {
	t.Helper()
	if err := os.Chown(dir, otherUser, otherUser); err != nil {
		t.Skip(err)
	}
}

func newDirWithEtcd(t *testing.T) (dir, etcd string) {
	t.Helper()
	dir = newDir(t)
	etcd = filepath.Join(dir, "etcd")
	if err := os.MkdirAll(etcd, 0o755); err != nil {
		t.Fatal(err)
	}
	return dir, etcd
}

func expectMode(t *testing.T, path string, want os.FileMode) {
	t.Helper()
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if got := info.Mode().Perm(); got != want {
		t.Errorf("%s has the mode %o, want %o", path, got, want)
	}
}

func TestPermissionsOfOtherUsersAreRemoved(t *testing.T) {
	for _, row := range []struct {
		name      string
		isOthers  bool
		dir, want os.FileMode
	}{
		{"a private directory", false, 0o700, 0o700},
		{"a directory that other users can read", false, 0o755, 0o755},
		{"a directory that other users can write to", false, 0o777, 0o775},
		{"the volume of a group", true, 0o775, 0o775},
		{"the volume of a provisioner", true, 0o777, 0o777},
	} {
		t.Run(row.name, func(t *testing.T) {
			dir, etcd := newDirWithEtcd(t)
			chmod(t, row.dir, dir)
			chmod(t, 0o777, etcd)
			if row.isOthers {
				giveAway(t, dir)
			}
			start(t, dir)
			expectMode(t, dir, row.want)
			expectMode(t, etcd, 0o700)
			expectMode(t, filepath.Join(dir, "client.sock"), 0o600)
		})
	}
}

func TestAWorldWritableDirectoryIsRefused(t *testing.T) {
	dir := newDir(t)
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	chmod(t, 0o777|os.ModeSticky, dir)
	_, err := Start(t.Context(), Config{Dir: dir})
	if err == nil || !strings.Contains(err.Error(), "data directory "+dir+" has the mode dtrwxrwxrwx, and is shared by all users") {
		t.Errorf("got %v", err)
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) > 0 {
		t.Errorf("the directory has %v, %v", entries, err)
	}
}

func TestTheDataOfAnotherUserIsRefused(t *testing.T) {
	dir, etcd := newDirWithEtcd(t)
	giveAway(t, etcd)
	_, err := Start(t.Context(), Config{Dir: dir})
	if err == nil || !strings.Contains(err.Error(), etcd+" belongs to user 65534, but must belong to user") {
		t.Errorf("got %v", err)
	}
}
