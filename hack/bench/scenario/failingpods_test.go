// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package scenario

import (
	"testing"
	"time"
)

func TestRestartsAfter(t *testing.T) {
	for _, row := range []struct {
		age  time.Duration
		want int32
	}{
		{0, 0},
		{9 * time.Second, 0},
		{10 * time.Second, 1},
		{29 * time.Second, 1},
		{30 * time.Second, 2},
		{70 * time.Second, 3},
		{310 * time.Second, 5},
		// From here on, the back-off does not grow.
		{610 * time.Second, 6},
		{910 * time.Second, 7},
	} {
		if got := restartsAfter(row.age); got != row.want {
			t.Errorf("after %s there are %d restarts, want %d", row.age, got, row.want)
		}
	}
}
