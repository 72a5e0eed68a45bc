// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package testbed

import (
	"context"
	"fmt"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"
)

const (
	// quietTime is the time without work after which the servers count as quiet. It covers pauses in which they wait for each
	// other.
	quietTime = time.Second
	// quietTimeout is the timeout for the servers to become quiet.
	quietTimeout = 10 * time.Minute
)

// AwaitQuiet waits until the servers have had no work for quietTime, and returns the start of that time. It ignores the servers in
// but. Unlike AwaitIdle, it tolerates pauses in the work.
func (bed *Testbed) AwaitQuiet(ctx context.Context, but ...string) (time.Time, error) {
	before, err := bed.Usage()
	if err != nil {
		return time.Time{}, err
	}
	quietSince := time.Now()
	err = wait.PollUntilContextTimeout(ctx, idleInterval, quietTimeout, false, func(context.Context) (bool, error) {
		now, err := bed.Usage()
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
