// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package migrate

import (
	"context"
	"errors"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"
)

const pollInterval = 200 * time.Millisecond

// await polls until check is true, and says at last what it was told was in the way.
func (o *options) await(ctx context.Context, what string, check func(context.Context) (done bool, obstacle string, err error)) error {
	var obstacle string
	err := wait.PollUntilContextTimeout(ctx, pollInterval, o.timeout, true, func(ctx context.Context) (done bool, err error) {
		done, obstacle, err = check(ctx)
		return done, err
	})
	if errors.Is(err, context.DeadlineExceeded) {
		return fmt.Errorf("waited %s for %s: %s", o.timeout, what, obstacle)
	}
	if err != nil {
		return fmt.Errorf("waiting for %s: %w", what, err)
	}
	return nil
}
