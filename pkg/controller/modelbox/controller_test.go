// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package modelbox

import (
	"context"
	"testing"
)

// The queue has a goroutine, and every lead of this process has a queue.
func TestALeadThatEndsBeforeItBeganLeavesNoQueue(t *testing.T) {
	f := newFixture(t, nil)
	ctx, stop := context.WithCancel(t.Context())
	stop()
	f.Run(ctx, 1)
	if !f.queue.ShuttingDown() {
		t.Error("the queue goes on")
	}
}
