// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"testing"
	"time"
)

const (
	// patience is how long a test waits for what should happen at once. A machine that is busy is no bug.
	patience = 60 * time.Second

	pollInterval = 50 * time.Millisecond
)

// eventually tries check until it returns nil, and fails the test with its last error when it never does.
func eventually(t *testing.T, timeout time.Duration, what string, check func() error) {
	t.Helper()
	deadline := time.Now().Add(timeout)
	for {
		err := check()
		if err == nil {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("waited %s for this: %s. At last: %v", timeout, what, err)
		}
		time.Sleep(pollInterval)
	}
}
