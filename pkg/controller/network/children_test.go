// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package network

import (
	"testing"

	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apply/fields"
	networkrender "github.com/sharelinuxs/modelbox-apiserver/pkg/render/network"
)

// The API server owns owner references by their UIDs. If the test owned them otherwise, each definition would look as if another
// manager had taken over some of its fields.
func TestFieldsOfDefinitionsAreThoseOfTheAPIServer(t *testing.T) {
	converter, err := newTypeConverter()
	if err != nil {
		t.Fatal(err)
	}
	rendered, err := networkrender.Children(newNetwork())
	if err != nil {
		t.Fatal(err)
	}
	owned, err := fields.NewComparer(converter).OwnedFields(rendered[0])
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range []fieldpath.Path{
		fieldpath.MakePathOrDie("spec", "config"),
		fieldpath.MakePathOrDie("metadata", "labels", "app.kubernetes.io/managed-by"),
		fieldpath.MakePathOrDie("metadata", "ownerReferences", fieldpath.KeyByFields("uid", "lan-1")),
	} {
		if !owned.Has(path) {
			t.Errorf("%s is not among %s", path, owned)
		}
	}
}
