// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"
	"fmt"
	"time"
)

const pollInterval = 100 * time.Millisecond

// Poll calls check until it returns nil. If ctx is done before, it returns the last error.
func Poll(ctx context.Context, check func() error) error {
	for {
		err := check()
		if err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("%w, last: %w", context.Cause(ctx), err)
		case <-time.After(pollInterval):
		}
	}
}
