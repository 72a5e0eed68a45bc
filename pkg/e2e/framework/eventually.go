// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package framework

import (
	"math"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"
)

const (
	// Patience is the timeout for an event that should happen immediately. It is long, because the machine may be busy.
	Patience = 4 * time.Minute
	// CollectorPatience is the timeout for the garbage collector. It gets owners with backoff while the server is down. If it
	// starts meanwhile, it does not know boxes until it next discovers resources.
	CollectorPatience = 5 * time.Minute
	// PollInterval is the time between the first two calls of a check. Each further interval is longer, up to maxPollInterval, because
	// the requests of checks take processor time from the servers.
	PollInterval    = 50 * time.Millisecond
	maxPollInterval = 400 * time.Millisecond
)

// Eventually calls check until it returns nil. After the timeout, it fails the test with the last error.
func Eventually(t *testing.T, timeout time.Duration, what string, check func() error) {
	t.Helper()
	deadline := time.Now().Add(timeout)
	backoff := wait.Backoff{Duration: PollInterval, Factor: 1.2, Cap: maxPollInterval, Steps: math.MaxInt32}
	for {
		err := check()
		if err == nil {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("waited %s for this: %s. At last: %v", timeout, what, err)
		}
		time.Sleep(backoff.Step())
	}
}
