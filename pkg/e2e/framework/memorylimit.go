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

// LimitMemory returns a program that runs another one in a cgroup with a memory limit. The kernel ends it when it takes more
// than so many bytes. The test is skipped where no cgroup can be made: that takes Linux, root and the memory controller.
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

// logMemory logs the most memory that the cgroup took. Files that are cached count, and are given up where the limit is near.
func logMemory(t testing.TB, cgroup string) {
	for _, file := range []string{"memory.peak", "memory.max_usage_in_bytes"} {
		if peak, err := os.ReadFile(filepath.Join(cgroup, file)); err == nil {
			t.Logf("the program took %s bytes at most", strings.TrimSpace(string(peak)))
		}
	}
}
