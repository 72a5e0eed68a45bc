// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"errors"
	"math"
	"runtime/debug"
	"testing"

	"github.com/KimMachineGun/automemlimit/memlimit"
)

func TestLimitMemory(t *testing.T) {
	const before = 1 << 40
	for _, row := range []struct {
		name       string
		provider   memlimit.Provider
		goMemLimit string
		want       int64
	}{
		{"the runtime keeps to nine tenths of the limit", memlimit.Limit(1000 << 20), "", 900 << 20},
		{"it has no limit where the container has none", func() (uint64, error) { return 0, memlimit.ErrNoLimit }, "", math.MaxInt64},
		{"GOMEMLIMIT takes precedence", memlimit.Limit(1000 << 20), "1TiB", before},
		{"a limit that cannot be read changes nothing", func() (uint64, error) { return 0, errors.New("no cgroup") }, "", before},
	} {
		t.Run(row.name, func(t *testing.T) {
			former := debug.SetMemoryLimit(before)
			defer debug.SetMemoryLimit(former)
			if row.goMemLimit != "" {
				t.Setenv("GOMEMLIMIT", row.goMemLimit)
			}
			limitMemory(t.Context(), row.provider)
			if got := debug.SetMemoryLimit(-1); got != row.want {
				t.Errorf("the limit of the runtime: got %d bytes, want %d", got, row.want)
			}
		})
	}
}
