// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package linearizability

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/e2e/framework"
)

// TestRestoredSnapshotIsOneMomentOfTheHistory saves a snapshot while clients compete for objects, and restores it after further changes.
// The server must have all objects as they were at one moment while the snapshot was saved, and accept no precondition from after that
// moment.
func TestRestoredSnapshotIsOneMomentOfTheHistory(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: this needs a control plane")
	}
	dir := newDirectory(t)
	data, file := filepath.Join(dir, "data"), filepath.Join(dir, "snapshot.db")
	r := newSystem(t, data).newRound(t)
	r.watchers = nil

	store := r.etcd.follow(t, r.Name, r.etcd.revision(t))
	stop := start(r, r.clients, (*client).run)
	defer stop()
	r.awaitAll()
	r.Eventually("there is a history before the snapshot", func() error { return r.expectOperations(historyBeforeSnapshot) })
	least := r.etcd.revision(t)
	saved := snapshot(t, "save", file, data)
	most := r.etcd.revision(t)
	if saved < least || saved > most {
		t.Fatalf("the snapshot has revision %d, and was saved between revisions %d and %d", saved, least, most)
	}
	r.Eventually("every object was changed after the snapshot", func() error { return r.expectChanges(saved) })
	stop()
	last := r.finish()
	changes, err := store.upTo(r.Namespace, last)
	if err != nil {
		t.Fatal(err)
	}

	killed := r.ControlPlane.KillFrozenServer(t, func() {
		if err := os.Rename(data, data+".lost"); err != nil {
			t.Fatal(err)
		}
		snapshot(t, "restore", file, data)
	})
	r.AwaitServerRestart(killed)
	r.expectRestored(changes, saved, last)
}

// historyBeforeSnapshot is the number of operations before the snapshot is saved.
const historyBeforeSnapshot = 1000

// expectOperations returns an error unless there were so many operations.
func (r *round) expectOperations(want int) error {
	var count int
	r.recorder.record(func(h *History) { count = len(h.Operations) })
	if count < want {
		return fmt.Errorf("there were %d operations, of %d", count, want)
	}
	return nil
}

// expectChanges returns an error unless each object was changed after the revision.
func (r *round) expectChanges(revision int64) error {
	changed := map[Key]bool{}
	r.recorder.record(func(h *History) {
		for _, operation := range h.Operations {
			if operation.Response.Outcome == Done && operation.Response.Object.Revision > revision {
				changed[operation.Request.Key] = true
			}
		}
	})
	for _, key := range keys {
		if !changed[key] {
			return fmt.Errorf("%s has no change after revision %d", key, revision)
		}
	}
	return nil
}

// expectRestored checks what the server has after the snapshot of the revision was restored, of a store whose last revision was last.
func (r *round) expectRestored(changes []Change, revision, last int64) {
	r.T.Helper()
	saved, lost := map[string]map[string]Object{boxes: {}, stacks: {}}, map[Key]Object{}
	for _, change := range changes {
		switch objects := saved[change.Key.Resource]; {
		case change.Object.Revision > revision && change.Type == watch.Deleted:
			delete(lost, change.Key)
		case change.Object.Revision > revision:
			lost[change.Key] = change.Object
		case change.Type == watch.Deleted:
			delete(objects, change.Key.Name)
		default:
			objects[change.Key.Name] = change.Object
		}
	}
	client := r.clients[0]
	for resource, want := range saved {
		list, err := client.list(resource)
		if err != nil {
			r.T.Fatal(err)
		}
		if diff := cmp.Diff(want, list.Objects); diff != "" {
			r.T.Errorf("%s of the snapshot, -want +got:\n%s", resource, diff)
		}
		if list.Revision <= last {
			r.T.Errorf("the restored list of %s has revision %d, and the lost store had %d", resource, list.Revision, last)
		}
	}
	for key, object := range lost {
		_, err := client.send(Request{Verb: Update, Key: key, Spec: "of-a-lost-version", Note: "lost", Revision: object.Revision})
		switch outcome := outcomeOf(Request{Key: key}, err); {
		case saved[key.Resource][key.Name] == (Object{}) && outcome == NotFound, outcome == Conflict:
		default:
			r.T.Errorf("an update of %s from revision %d, which is lost: %s, %v", key, object.Revision, outcome, err)
		}
	}
	r.T.Logf("%d changes, the last versions of %d objects are lost, %d boxes and %d stacks restored", len(changes), len(lost), len(saved[boxes]), len(saved[stacks]))
}

// snapshot saves or restores a snapshot of the data directory, and returns its revision.
func snapshot(t *testing.T, command, file, data string) int64 {
	t.Helper()
	output, err := exec.Command(framework.Binary("modelbox-apiserver"), "snapshot", command, file, "--data-dir="+data, "--output=json").Output()
	if err != nil {
		t.Fatalf("snapshot %s: %v: %s", command, err, output)
	}
	var status struct{ Revision int64 }
	if err := json.Unmarshal(output, &status); err != nil {
		t.Fatalf("snapshot %s printed %q: %v", command, output, err)
	}
	return status.Revision
}
