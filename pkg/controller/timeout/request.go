// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

// Package timeout keeps an API server that does not answer from holding the workers of controllers.
package timeout

import (
	"context"
	"fmt"
	"time"
)

// requestTimeout is how long a request may take: as long as an API server takes for one (--request-timeout), which is
// longer than any admission webhook may take.
const requestTimeout = time.Minute

// Request sends a request that is given up after a minute. It is not for watches.
func Request[T any](ctx context.Context, request func(ctx context.Context) (T, error)) (T, error) {
	limited, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	answer, err := request(limited)
	if err != nil && limited.Err() != nil && ctx.Err() == nil {
		err = fmt.Errorf("no answer within %s: %w", requestTimeout, err)
	}
	return answer, err
}
