// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package recovery

import (
	"testing"

	"k8s.io/apimachinery/pkg/types"
)

// A server without the encryption key of an object must not replace a server that has the key.
func TestStoreWithAnObjectThatCannotBeReadIsNotServed(t *testing.T) {
	const encrypted = "k8s:enc:secretbox:v1:key1:…"
	for _, test := range []struct {
		name string
		// lease is the position of the store on the Lease.
		lease Position
		key   func(*fixture) string
		texts []string
	}{
		{"a box of a store that is current", Position{},
			func(f *fixture) string {
				return f.boxes.rawKey(types.NamespacedName{Namespace: testNamespace, Name: "web"})
			},
			[]string{"box shop/web", "--encryption-provider-config", "--store-recovery=ignore"}},
		{"a stack of a store that is current", Position{},
			func(f *fixture) string {
				return f.stacks.rawKey(types.NamespacedName{Namespace: testNamespace, Name: "shop"})
			},
			[]string{"stack shop/shop"}},
		{"a network of a store that is foreign", earlier,
			func(f *fixture) string {
				return f.networks.rawKey(types.NamespacedName{Namespace: testNamespace, Name: "lan"})
			},
			[]string{"network shop/lan"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			f := newFixture(t)
			f.put(box("other", "1"))
			key := test.key(f)
			if _, err := f.store.client.Put(t.Context(), key, encrypted); err != nil {
				t.Fatal(err)
			}
			if test.lease.Identity.UID != "" {
				f.setLease(test.lease)
			}
			expectRefused(t, f, test.texts...)

			f.config.Policy = Ignore
			if _, err := f.attempt(); err != nil {
				t.Errorf("the server does not serve with --store-recovery=ignore: %v", err)
			}
			response, err := f.store.client.Get(t.Context(), key)
			if err != nil {
				t.Fatal(err)
			}
			if len(response.Kvs) != 1 || string(response.Kvs[0].Value) != encrypted {
				t.Errorf("the stored value of the object changed: %v", response.Kvs)
			}
		})
	}
}
