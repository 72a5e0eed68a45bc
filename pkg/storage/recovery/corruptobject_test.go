// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package recovery

import (
	"testing"

	"k8s.io/apimachinery/pkg/types"
)

// The server serves from a store with a corrupt object, and does not change the object.
func TestStoreWithACorruptObjectIsServed(t *testing.T) {
	for _, row := range []struct {
		name   string
		stored string
		// lease is the position of the store on the Lease.
		lease Position
		want  Situation
	}{
		{"of a store that is current", "no object", Position{}, Current},
		{"of a store that is foreign", "no object", earlier, Foreign},
	} {
		t.Run(row.name, func(t *testing.T) {
			f := newFixture(t, deploymentOf(t, box("web", "1")), deploymentOf(t, box("mail", "2")))
			f.put(box("mail", "2"))
			key := f.boxes.rawKey(types.NamespacedName{Namespace: testNamespace, Name: "web"})
			if _, err := f.store.client.Put(t.Context(), key, row.stored); err != nil {
				t.Fatal(err)
			}
			if row.lease.Identity.UID != "" {
				f.setLease(row.lease)
			}
			expectAbsent(t, f, row.want)
			orphans, err := findOrphans(t.Context(), f.contents, &cluster{kube: f.config.KubeClient, metadata: f.config.MetadataClient}, testNamespace)
			if err != nil {
				t.Fatal(err)
			}
			if names := nameChildren(orphans); names != "" {
				t.Errorf("children without an owner: %s", names)
			}
			response, err := f.store.client.Get(t.Context(), key)
			if err != nil {
				t.Fatal(err)
			}
			if len(response.Kvs) != 1 || string(response.Kvs[0].Value) != row.stored {
				t.Errorf("the stored value of the object changed: %v", response.Kvs)
			}
			list, err := f.boxes.summaries(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if got := list[types.NamespacedName{Namespace: testNamespace, Name: "mail"}]; got.UID != "2" {
				t.Errorf("the other box is %v", got)
			}
		})
	}
}
