// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package storage

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/e2e/framework"
)

// TestSnapshotsAreSavedAndRestored saves snapshots while boxes are written, manually and by schedule, verifies them, and restores
// them.
func TestSnapshotsAreSavedAndRestored(t *testing.T) {
	t.Parallel()
	disk, err := os.MkdirTemp("/tmp", "mb-snap-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(disk) })
	data, scheduled := filepath.Join(disk, "data"), filepath.Join(disk, "scheduled")
	p := framework.NewControlPlane(t, framework.ServerFlags("--data-dir="+data, "--snapshot-dir="+scheduled, "--snapshot-period=1s", "--snapshot-keep=2")...)
	n := p.NewNamespace(t)
	const boxes = 5
	for i := range boxes {
		n.CreateBox(framework.NewBox(fmt.Sprintf("web-%d", i), framework.Pause))
	}

	file := filepath.Join(disk, "boxes.db")
	status := snapshotCommand(t, "save", file, "--data-dir="+data)
	if status.Keys < boxes || status.Revision == 0 {
		t.Errorf("saved: %+v", status)
	}
	if diff := cmp.Diff(status, snapshotCommand(t, "status", file)); diff != "" {
		t.Errorf("-saved +status:\n%s", diff)
	}
	n.Eventually("snapshots are saved by schedule, and only the last are kept", func() error {
		first, _ := filepath.Glob(filepath.Join(scheduled, "modelbox-*.db"))
		metrics := framework.Scrape(t, p.DirectClient(t))
		if count := framework.Sum(metrics, "modelbox_snapshot_attempts_total", map[string]string{"result": "success"}); count < 4 {
			return fmt.Errorf("%g were saved", count)
		}
		if len(first) < 2 || len(first) > 3 {
			return fmt.Errorf("there are %q", first)
		}
		return nil
	})

	refused := exec.Command(framework.Binary("modelbox-apiserver"), "snapshot", "restore", file, "--data-dir="+data)
	if output, err := refused.CombinedOutput(); err == nil || !strings.Contains(string(output), "in use by another process") {
		t.Errorf("restoring to the server that runs: %v, %s", err, output)
	}
	restored := filepath.Join(disk, "restored")
	if diff := cmp.Diff(status, snapshotCommand(t, "restore", file, "--data-dir="+restored)); diff != "" {
		t.Errorf("-saved +restored:\n%s", diff)
	}
	again := snapshotCommand(t, "save", filepath.Join(disk, "again.db"), "--data-dir="+restored)
	if again.Revision <= status.Revision || again.Keys < status.Keys {
		t.Errorf("saved: %+v, restored: %+v", status, again)
	}

	// The server continues to run.
	if _, err := n.Boxes.List(n.Ctx, metav1.ListOptions{}); err != nil {
		t.Error(err)
	}
	n.CreateReadyBox(framework.NewBox("ready"))
}

// snapshotStatus is the JSON output of the command snapshot.
type snapshotStatus struct {
	Hash     uint32
	Revision int64
	Keys     int
	Bytes    int64
}

func snapshotCommand(t *testing.T, arguments ...string) snapshotStatus {
	t.Helper()
	arguments = append([]string{"snapshot"}, append(arguments, "--output=json")...)
	output, err := exec.Command(framework.Binary("modelbox-apiserver"), arguments...).Output()
	if err != nil {
		t.Fatalf("%q: %v", arguments, err)
	}
	var status snapshotStatus
	if err := json.Unmarshal(output, &status); err != nil {
		t.Fatalf("%q printed %q: %v", arguments, output, err)
	}
	return status
}
