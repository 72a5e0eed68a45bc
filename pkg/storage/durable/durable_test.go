// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package durable

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
)

func TestMkdirAll(t *testing.T) {
	root := t.TempDir()
	t.Chdir(root)
	for _, dir := range []string{filepath.Join(root, "a", "b"), filepath.Join(root, "a", "b"), filepath.Join("c", "d"), "."} {
		if err := MkdirAll(dir, 0o700); err != nil {
			t.Errorf("creating %s: %v", dir, err)
		}
		if info, err := os.Stat(dir); err != nil || !info.IsDir() || info.Mode().Perm() != 0o700 && dir != "." {
			t.Errorf("%s is %v, %v", dir, info, err)
		}
	}
	file := filepath.Join(root, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := MkdirAll(filepath.Join(file, "below"), 0o700); err == nil {
		t.Error("a directory was created below a file")
	}
}

func TestSync(t *testing.T) {
	dir := t.TempDir()
	if err := MkdirAll(filepath.Join(dir, "a"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "a", "file"), []byte("text"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, sync := range map[string]func(string) error{"Sync": Sync, "SyncTree": SyncTree, "SyncDirectories": SyncDirectories} {
		if err := sync(dir); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if err := sync(filepath.Join(dir, "missing")); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s of a missing file: got %v, want %v", name, err, fs.ErrNotExist)
		}
	}
}
