// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package framework

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// LimitMemory returns a program that runs another program in a cgroup with a memory limit in bytes. The kernel kills the program if
// it exceeds the limit. The test is skipped if no cgroup can be created, which requires Linux, root and the memory controller.
func LimitMemory(t testing.TB, program string, bytes int64) string {
	t.Helper()
	root, file := "/sys/fs/cgroup", "memory.max"
	if _, err := os.Stat(filepath.Join(root, "memory", "memory.limit_in_bytes")); err == nil {
		root, file = filepath.Join(root, "memory"), "memory.limit_in_bytes" // version 1
	}
	cgroup, err := os.MkdirTemp(root, "modelbox-e2e-")
	if err != nil {
		t.Skipf("no cgroup can be made here: %v", err)
	}
	t.Cleanup(func() {
		if err := os.Remove(cgroup); err != nil {
			t.Errorf("removing the cgroup: %v", err)
		}
	})
	if err := os.WriteFile(filepath.Join(cgroup, file), []byte(strconv.FormatInt(bytes, 10)), 0o644); err != nil {
		t.Skipf("the memory of a cgroup cannot be limited here: %v", err)
	}
	t.Cleanup(func() { logMemory(t, cgroup) })
	script := filepath.Join(t.TempDir(), "limited")
	content := fmt.Sprintf("#!/bin/sh\necho $$ >%q && exec %q \"$@\"\n", filepath.Join(cgroup, "cgroup.procs"), program)
	if err := os.WriteFile(script, []byte(content), 0o755); err != nil {
		t.Fatal(err)
	}
	return script
}

// logMemory logs the peak memory of the cgroup. It includes the page cache, which the kernel reclaims near the limit.
func logMemory(t testing.TB, cgroup string) {
	for _, file := range []string{"memory.peak", "memory.max_usage_in_bytes"} {
		if peak, err := os.ReadFile(filepath.Join(cgroup, file)); err == nil {
			t.Logf("the program took %s bytes at most", strings.TrimSpace(string(peak)))
		}
	}
}
