// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package terminal

import "testing"

func TestCutLeavesColoursWhole(t *testing.T) {
	for _, test := range []struct {
		line string
		want string
	}{
		{"└─ab", "└─ab"},
		{"└─abc", "└─ab"},
		{"a" + Red + "bc" + Plain + "d", "a" + Red + "bc" + Plain + "d"},
		{"a" + Red + "bcde" + Plain + "f", "a" + Red + "bcd" + Plain},
	} {
		if got := Cut(test.line, 4); got != test.want {
			t.Errorf("%q becomes %q, want %q", test.line, got, test.want)
		}
	}
}
