// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package inplace

import (
	"context"
	"errors"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"
)

// PollInterval is how often Await looks.
const PollInterval = 200 * time.Millisecond

// Await polls until check is true, and says at last what it was told was in the way: its error names both what is waited for and
// the obstacle.
func Await(ctx context.Context, timeout time.Duration, what string, check func(context.Context) (done bool, obstacle string, err error)) error {
	var obstacle string
	err := wait.PollUntilContextTimeout(ctx, PollInterval, timeout, true, func(ctx context.Context) (done bool, err error) {
		done, obstacle, err = check(ctx)
		return done, err
	})
	if errors.Is(err, context.DeadlineExceeded) {
		return fmt.Errorf("waited %s for %s: %s", timeout, what, obstacle)
	}
	if err != nil {
		return fmt.Errorf("waiting for %s: %w", what, err)
	}
	return nil
}
