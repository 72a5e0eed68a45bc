// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package recovery

import (
	"errors"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/types"
)

func TestMissingEncryptionKeys(t *testing.T) {
	entryOf := func(value string, err error) entry {
		return entry{name: types.NamespacedName{Namespace: "shop", Name: "web"}, value: []byte(value), err: err}
	}
	damaged := errors.New("damaged")
	for _, row := range []struct {
		name    string
		entries []entry
		// missing is a part of the error, empty for no error.
		missing string
	}{
		{"nothing is stored", nil, ""},
		{"a corrupt object that is not encrypted", []entry{entryOf("k8s\x00?", damaged)}, ""},
		{"a key that decrypts nothing", []entry{entryOf("k8s:enc:aesgcm:v1:one:a", damaged), entryOf("k8s\x00", nil)}, "box shop/web"},
		{"a key that decrypts everything else", []entry{entryOf("k8s:enc:aesgcm:v1:one:a", damaged), entryOf("k8s:enc:aesgcm:v1:one:b", nil)}, ""},
		{"one of two keys", []entry{entryOf("k8s:enc:aesgcm:v1:one:a", damaged), entryOf("k8s:enc:aesgcm:v1:two:b", nil)}, "box shop/web"},
		{"a value that ends early", []entry{entryOf("k8s:enc:", damaged)}, "box shop/web"},
	} {
		t.Run(row.name, func(t *testing.T) {
			keys := encryptionKeys{}
			for _, entry := range row.entries {
				keys.add("box", entry)
			}
			switch err := keys.missing(); {
			case err == nil && row.missing != "":
				t.Error("no key is missing")
			case err != nil && (row.missing == "" || !strings.Contains(err.Error(), row.missing)):
				t.Error(err)
			}
		})
	}
}
