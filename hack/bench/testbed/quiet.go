// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package ground

import (
	"context"
	"fmt"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"
)

const (
	// quietTime is for how long servers have nothing to do before they are believed to be done: they wait for each other.
	quietTime = time.Second
	// quietTimeout is how long to wait for that.
	quietTimeout = 10 * time.Minute
)

// AwaitQuiet waits until the servers have had nothing to do for a second, and returns since when. Those that are named do not
// count. It is AwaitIdle for what has pauses, and does not give up.
func (g *Ground) AwaitQuiet(ctx context.Context, but ...string) (time.Time, error) {
	before, err := g.Usage()
	if err != nil {
		return time.Time{}, err
	}
	quietSince := time.Now()
	err = wait.PollUntilContextTimeout(ctx, idleInterval, quietTimeout, false, func(context.Context) (bool, error) {
		now, err := g.Usage()
		if err != nil {
			return false, err
		}
		used := 0.0
		for name, seconds := range now.CPUSince(before) {
			if !slices.Contains(but, name) {
				used += seconds
			}
		}
		before = now
		if used >= idleShare*idleInterval.Seconds() {
			quietSince = time.Now()
		}
		return time.Since(quietSince) >= quietTime, nil
	})
	if err != nil {
		return time.Time{}, fmt.Errorf("waiting until the servers are quiet: %w", err)
	}
	return quietSince, nil
}
