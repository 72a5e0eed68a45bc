// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package helper

import "testing"

func TestIsPodClaimName(t *testing.T) {
	for _, row := range []struct {
		claim string
		want  bool
	}{
		{"data-mysql-0", true},
		{"data-mysql-12", true},
		{"data-mysql-", false},
		{"data-mysql", false},
		{"data-mysql-0-1", false},
		{"data-mysql-a", false},
		{"log-mysql-0", false},
		{"data-mysql-server-0", false},
	} {
		if got := IsPodClaimName(row.claim, "mysql", "data"); got != row.want {
			t.Errorf("%s: got %t, want %t", row.claim, got, row.want)
		}
	}
}
