// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package rest

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// A server with other prefixes does not find the stored objects.
func TestResourcePrefixesStayAsTheyAre(t *testing.T) {
	want := map[string]string{
		"modelboxes.model.github.com":   "model.github.com/modelboxes",
		"modelstacks.model.github.com":  "model.github.com/modelstacks",
		"networks.model.github.com":     "model.github.com/networks",
		"poddebuggers.model.github.com": "model.github.com/poddebuggers",
	}
	got := map[string]string{}
	for resource, prefix := range ResourcePrefixes() {
		got[resource.String()] = prefix
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}
