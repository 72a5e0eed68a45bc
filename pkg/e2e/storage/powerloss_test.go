// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package storage

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/e2e/framework"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/e2e/powerloss"
)

const (
	// cutsVariable is the environment variable with the number of power cuts of TestPowerLossLosesNothing.
	cutsVariable = "MODELBOX_E2E_CUTS"
	// maxWritesBetweenCuts is the maximum number of acknowledged writes before the next cut.
	maxWritesBetweenCuts = 150
)

// machine has a disk that loses data that is not synced in a power cut. The disk has the data directory of the server and its
// snapshots.
type machine struct {
	*framework.Namespace
	system    *powerloss.FileSystem
	held      string
	snapshots string
	// verified counts the verified snapshots after cuts.
	verified int
}

// TestPowerLossLosesNothing cuts the power repeatedly while boxes are written. The server starts each time, its store has every
// acknowledged write, and all snapshots are complete.
func TestPowerLossLosesNothing(t *testing.T) {
	t.Parallel()
	cuts := framework.Setting(t, cutsVariable, 0, strconv.Atoi)
	if cuts == 0 {
		t.Skipf("%s is not set", cutsVariable)
	}
	m := newMachine(t)
	m.Eventually("a snapshot is saved", func() error {
		metrics := framework.Scrape(t, m.ControlPlane.DirectClient(t))
		if framework.Sum(metrics, "modelbox_snapshot_attempts_total", map[string]string{"result": "success"}) == 0 {
			return errors.New("there is none")
		}
		return nil
	})
	journal := &journal{acknowledged: map[string]int{}}
	stop := journal.startWriters(m.Namespace)
	defer stop()
	for cut := 1; cut <= cuts; cut++ {
		enough := journal.count() + 1 + rand.IntN(maxWritesBetweenCuts)
		m.Eventually("boxes are being written", func() error {
			if count := journal.count(); count < enough {
				return fmt.Errorf("%d of %d writes were acknowledged", count, enough)
			}
			return nil
		})
		m.cutPower(journal)
		t.Logf("cut %d: after %d acknowledged writes, %d snapshots", cut, journal.count(), m.verified)
	}
	stop()
	expectStored(m.Namespace, journal.copy())
}

func newMachine(t *testing.T) *machine {
	t.Helper()
	// Do not use TMPDIR, which may be too long for the path of a socket.
	dir, err := os.MkdirTemp("/tmp", "mb-power-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.Remove(dir) })
	seed := rand.Uint64()
	system, err := powerloss.Mount(dir, seed)
	if err != nil {
		t.Skipf("a file system of the test's own needs FUSE and root: %v", err)
	}
	t.Logf("seed %d", seed)
	t.Cleanup(func() {
		if err := system.Unmount(); err != nil {
			t.Error(err)
		}
	})
	script, flagsFile := newServerScript(t)
	snapshots := filepath.Join(dir, "snapshots")
	p := framework.NewControlPlane(t, append(framework.ServerFlags("--data-dir="+filepath.Join(dir, "data"), "--snapshot-dir="+snapshots,
		"--snapshot-period=1s", "--snapshot-keep=2"), "--server="+script)...)
	return &machine{Namespace: p.NewNamespace(t), system: system, held: flagsFile + heldSuffix, snapshots: snapshots}
}

// cutPower cuts the power, and waits until the server has started again with the remaining data.
func (m *machine) cutPower(journal *journal) {
	m.T.Helper()
	if err := os.WriteFile(m.held, nil, 0o600); err != nil {
		m.T.Fatal(err)
	}
	killed := m.ControlPlane.ServerPID(m.T)
	m.ControlPlane.SignalServer(m.T, syscall.SIGKILL)
	acknowledged := journal.copy() // no write is acknowledged before the server is back
	if err := m.system.Cut(); err != nil {
		m.T.Fatal(err)
	}
	m.verifySnapshots()
	var started int
	m.Eventually("the server is about to start", func() error {
		if started = m.ControlPlane.ServerPID(m.T); started == killed {
			return errors.New("it has no new process")
		}
		return nil
	})
	if err := os.Remove(m.held); err != nil {
		m.T.Fatal(err)
	}
	m.AwaitServerRestart(killed)
	framework.ExpectEqual(m.T, "the process that serves is the first that was started", started, m.ControlPlane.ServerPID(m.T))
	expectStored(m.Namespace, acknowledged)
	found := framework.Scrape(m.T, m.ControlPlane.DirectClient(m.T))
	framework.ExpectEqual(m.T, "starts on a store that is Current", 1.0, framework.Sum(found, "modelbox_store_starts_total", map[string]string{"situation": "Current"}))
	framework.ExpectEqual(m.T, "recovered boxes", 0.0, framework.Sum(found, "modelbox_store_recovered_boxes_total", nil))
	if m.T.Failed() {
		m.T.FailNow()
	}
}

// verifySnapshots verifies all snapshots. The first one was saved before the first cut. It uses other processes, because a process
// that waits for the file system that it serves may deadlock.
func (m *machine) verifySnapshots() {
	m.T.Helper()
	output, err := exec.CommandContext(m.Ctx, "find", filepath.Dir(m.snapshots), "-path", filepath.Join(m.snapshots, "modelbox-*.db")).Output()
	if err != nil {
		m.T.Fatalf("listing the snapshots: %v", err)
	}
	files := strings.Fields(string(output))
	if len(files) == 0 {
		m.T.Error("there are no snapshots")
	}
	for _, file := range files {
		snapshotCommand(m.T, "status", file)
	}
	m.verified += len(files)
}
