// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package references

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/util/sets"

	modelboxrender "github.com/sharelinuxs/modelbox-apiserver/pkg/render/modelbox"
)

func TestEqualValuesHaveDifferentHashes(t *testing.T) {
	h, other := hasher("0123456789abcdef0123456789abcdef"), hasher("fedcba9876543210fedcba9876543210")
	hashes := sets.New[string]()
	for _, hash := range []string{
		h.value("Secret", "a", "db", "password", []byte("secret")),
		h.value("ConfigMap", "a", "db", "password", []byte("secret")),
		h.value("Secret", "b", "db", "password", []byte("secret")),
		h.value("Secret", "a", "d", "bpassword", []byte("secret")),
		h.value("Secret", "a", "db", "password2", []byte("secret")),
		h.value("Secret", "a", "db", "password", []byte("secret2")),
		other.value("Secret", "a", "db", "password", []byte("secret")),
	} {
		hashes.Insert(hash)
	}
	if len(hashes) != 7 {
		t.Errorf("got %d different hashes, want 7: %v", len(hashes), sets.List(hashes))
	}
	if again := h.value("Secret", "a", "db", "password", []byte("secret")); !hashes.Has(again) {
		t.Errorf("the same value has another hash: %s", again)
	}
}

func TestLongHashesAreShortened(t *testing.T) {
	object := func(keys int, hash string) map[string]string {
		values := map[string]string{}
		for i := range keys {
			values[fmt.Sprintf("key-%d", i)] = hash
		}
		return values
	}
	many := func(objects int, hash string) hashes {
		many := hashes{}
		for i := range objects {
			many[fmt.Sprintf("Secret/%s-%d", strings.Repeat("x", 200), i)] = object(1, hash)
		}
		return many
	}
	for _, row := range []struct {
		name          string
		before, after hashes
		want          string
	}{
		{"few keys", hashes{"Secret/db": object(2, "a")}, hashes{"Secret/db": object(2, "b")}, "Secret db (key-0, key-1)"},
		{"many keys", hashes{"Secret/db": object(1000, "a"), "Secret/tls": nil}, hashes{"Secret/db": object(1000, "b"), "Secret/tls": nil}, "Secret db (*)"},
		{"many objects", many(100, "a"), many(100, "b"), "* (*)"},
	} {
		t.Run(row.name, func(t *testing.T) {
			before, err := shortened(row.before)
			if err != nil {
				t.Fatal(err)
			}
			after, err := shortened(row.after)
			if err != nil {
				t.Fatal(err)
			}
			if got := modelboxrender.DescribeReferenceChanges(modelboxrender.ReferenceHashes{Objects: before}, modelboxrender.ReferenceHashes{Objects: after}); got != row.want {
				t.Errorf("got %q, want %q", got, row.want)
			}
			if encoded, _ := json.Marshal(after); len(encoded) > maxAnnotation {
				t.Errorf("the annotation has %d bytes, want %d at most", len(encoded), maxAnnotation)
			}
		})
	}
}

// An informer may transform an object again.
func TestHashedObjectsAreNotHashedAgain(t *testing.T) {
	h := hasher("0123456789abcdef0123456789abcdef")
	once, err := h.hashed(settings(map[string]string{"a": "b"}))
	if err != nil {
		t.Fatal(err)
	}
	twice, err := h.hashed(once)
	if err != nil {
		t.Fatal(err)
	}
	if once != twice || once.(*hashedObject).hashes["a"] != h.value("ConfigMap", "default", "settings", "a", []byte("b")) {
		t.Errorf("got %+v, and %+v after another transform", once, twice)
	}
}
