// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package message

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestTruncate(t *testing.T) {
	for _, row := range []struct{ name, message, want string }{
		{"a short message stays", "short", "short"},
		{"the longest message stays", strings.Repeat("a", 1024), strings.Repeat("a", 1024)},
		{"a longer one is cut", strings.Repeat("a", 1025), strings.Repeat("a", 1021) + "…"},
		{"it is cut between characters", strings.Repeat("ü", 1000), strings.Repeat("ü", 510) + "…"},
		{"what is no character is replaced", "a\xffb", "a�b"},
		{"and may make it too long", strings.Repeat("a\xff", 400), strings.Repeat("a�", 255) + "a…"},
	} {
		t.Run(row.name, func(t *testing.T) {
			if diff := cmp.Diff(row.want, Truncate(row.message)); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}
