// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package recovery

import (
	"encoding/json"
	"testing"
)

// A restored snapshot has the identity of its store, and a new etcd cluster.
func TestARestoredSnapshotIsRecoveredOnce(t *testing.T) {
	f := newFixture(t, deploymentOf(t, box("created", "2")))
	f.put(box("deleted", "1"))
	own := f.serve(Current)
	if own.Identity.ClusterID != own.ClusterID || own.ClusterID == 0 {
		t.Errorf("the identity has the etcd cluster %x, and the etcd cluster is %x", own.Identity.ClusterID, own.ClusterID)
	}
	identity := own.Identity
	identity.ClusterID++
	value, err := json.Marshal(identity)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.store.client.Put(t.Context(), f.store.identityKey(), string(value)); err != nil {
		t.Fatal(err)
	}
	recovered := f.serve(Behind)
	if recovered.Identity.UID == own.Identity.UID || recovered.Identity.ClusterID != own.ClusterID {
		t.Errorf("the identity is %v", recovered.Identity)
	}
	expectNames(t, f.stored(), "created")
	f.serve(Current)
}
