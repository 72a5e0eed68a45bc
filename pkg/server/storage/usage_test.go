// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package storage

import (
	"math"
	"testing"
)

func TestNamespaceLimitOfAnOutsideEtcd(t *testing.T) {
	const none = math.MaxInt64
	for _, row := range []struct {
		name        string
		option      int64
		memoryLimit int64
		want        int
	}{
		{"no limit of memory", 0, none, 0},
		{"a limit of memory", 0, 512 << 20, 64 << 20},
		{"a limit of its own", 1000, 512 << 20, 1000},
		{"a limit of its own that is larger", 1 << 30, 512 << 20, 1 << 30},
		{"no limit on purpose", -1, 512 << 20, 0},
	} {
		t.Run(row.name, func(t *testing.T) {
			if got := NamespaceLimit(row.option, nil, row.memoryLimit); got != row.want {
				t.Errorf("got %d, want %d", got, row.want)
			}
		})
	}
}
