// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package storage

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func identity(t *testing.T, dataDir string) string {
	t.Helper()
	identity, err := Identity(dataDir)
	if err != nil {
		t.Fatal(err)
	}
	return identity
}

func TestADataDirectoryKeepsItsIdentity(t *testing.T) {
	dir := t.TempDir()
	first := identity(t, dir)
	if second := identity(t, dir); second != first {
		t.Errorf("started again, %s is %s", first, second)
	}
	if name, isEmbedded := strings.CutPrefix(first, "embedded_"); !isEmbedded || name == "" {
		t.Errorf("the identity is %q", first)
	}
	info, err := os.Stat(filepath.Join(dir, "identity"))
	if err != nil {
		t.Fatal(err)
	}
	if info.Mode().Perm() != 0o600 {
		t.Errorf("its file has the mode %o", info.Mode().Perm())
	}
}

func TestAnIdentityThatWasCutShortIsMadeAnew(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "identity"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if got := identity(t, dir); got == "embedded_" {
		t.Errorf("the identity is %q", got)
	}
}

func TestTwoDataDirectoriesAreTwo(t *testing.T) {
	if one, two := identity(t, t.TempDir()), identity(t, t.TempDir()); one == two {
		t.Errorf("both are %s", one)
	}
}

// The original of a copied folder may be in use: who runs on the copy must not take itself for it.
func TestACopyOfADataDirectoryIsAnother(t *testing.T) {
	dir, copied := t.TempDir(), filepath.Join(t.TempDir(), "copy")
	original := identity(t, dir)
	if err := os.CopyFS(copied, os.DirFS(dir)); err != nil {
		t.Fatal(err)
	}
	if got := identity(t, copied); got == original {
		t.Errorf("both are %s", got)
	}
}

// Replicas on one outside etcd may share a host.
func TestTwoProcessesWithoutADataDirectoryAreTwo(t *testing.T) {
	host, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	one, two := identity(t, ""), identity(t, "")
	if one == two {
		t.Errorf("both are %s", one)
	}
	if !strings.HasPrefix(one, host+"_") {
		t.Errorf("%s does not name the host %s", one, host)
	}
}

func TestAnIdentityThatCannotBeKept(t *testing.T) {
	if identity, err := Identity(filepath.Join(t.TempDir(), "gone")); err == nil {
		t.Errorf("got %s", identity)
	}
}
