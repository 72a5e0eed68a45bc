// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package framework

import (
	"testing"
	"time"
)

const (
	// Patience is how long a test waits for what should happen at once. A machine that is busy is no bug.
	Patience = 4 * time.Minute
	// CollectorPatience is how long the garbage collector may take. While the server is away it asks for owners less and
	// less often, and one that was started then knows of no boxes until it looks for new kinds.
	CollectorPatience = 5 * time.Minute
	// PollInterval is between two looks at something that is waited for.
	PollInterval = 50 * time.Millisecond
)

// Eventually tries check until it returns nil, and fails the test with its last error when it never does.
func Eventually(t *testing.T, timeout time.Duration, what string, check func() error) {
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
		time.Sleep(PollInterval)
	}
}
