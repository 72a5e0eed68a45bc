// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package workdir

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// asHolder makes the test binary hold the claim of a directory until its standard input ends.
const asHolder = "TEST_AS_HOLDER_OF"

func TestMain(m *testing.M) {
	if folder := os.Getenv(asHolder); folder != "" {
		if _, err := Dir(folder).Claim(); err != nil {
			panic(err)
		}
		os.Stdout.WriteString("claimed\n")
		_, _ = os.Stdin.Read(make([]byte, 1))
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func TestClaimIsExclusiveUntilItsProcessEnds(t *testing.T) {
	dir := Dir(filepath.Join(t.TempDir(), "cluster"))
	other := claimInAnotherProcess(t, dir)

	if _, err := dir.Claim(); !errors.Is(err, ErrClaimed) {
		t.Errorf("second claim: error = %v, want ErrClaimed", err)
	}
	holder, err := dir.Holder()
	if err != nil || holder == nil || holder.Pid != other.Process.Pid {
		t.Errorf("holder = %v, %v; want process %d", holder, err, other.Process.Pid)
	}

	if err := other.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = other.Wait()

	if holder, err := dir.Holder(); holder != nil || err != nil {
		t.Errorf("holder after it was killed = %v, %v", holder, err)
	}
	claim, err := dir.Claim()
	if err != nil {
		t.Fatalf("claim after the holder was killed: %v", err)
	}
	claim.Release()
}

func TestClaimStartsEmptyButKeepsLogs(t *testing.T) {
	dir := Dir(t.TempDir())
	claim, err := dir.Claim()
	if err != nil {
		t.Fatal(err)
	}
	if err := claim.Prepare(); err != nil {
		t.Fatal(err)
	}
	for _, file := range []string{dir.Kubeconfig(), dir.PKI("ca.key"), dir.Logs("etcd.log")} {
		if err := os.WriteFile(file, []byte("x"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	claim.Release()

	claim, err = dir.Claim()
	if err != nil {
		t.Fatal(err)
	}
	defer claim.Release()
	entries, err := filepath.Glob(filepath.Join(string(dir), "*"))
	if err != nil {
		t.Fatal(err)
	}
	for i := range entries {
		entries[i] = filepath.Base(entries[i])
	}
	if got := strings.Join(entries, " "); got != "localcluster.lock logs" {
		t.Errorf("left in the folder: %s", got)
	}
	if _, err := os.Stat(dir.Logs("etcd.log")); err != nil {
		t.Errorf("log: %v", err)
	}
}

func TestClaimLeavesForeignFoldersAlone(t *testing.T) {
	dir := Dir(t.TempDir())
	precious := filepath.Join(dir.Data(), "precious")
	if err := os.MkdirAll(precious, 0o755); err != nil {
		t.Fatal(err)
	}
	if _, err := dir.Claim(); err == nil {
		t.Error("claimed a folder with something else in it")
	}
	if _, err := os.Stat(precious); err != nil {
		t.Error(err)
	}
	if dir.Exists() {
		t.Error("marked it as a cluster's")
	}
}

func claimInAnotherProcess(t *testing.T, dir Dir) *exec.Cmd {
	t.Helper()
	other := exec.Command(os.Args[0])
	other.Env = append(os.Environ(), asHolder+"="+string(dir))
	if _, err := other.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	output, err := other.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := other.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = other.Process.Kill() })
	said := make([]byte, len("claimed\n"))
	if _, err := output.Read(said); err != nil || string(said) != "claimed\n" {
		t.Fatalf("the other process says %q, %v", said, err)
	}
	return other
}
