// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package modelbox

import (
	"context"
	"fmt"
	"time"
)

// requestTimeout is how long a request may take: as long as an API server takes for one (--request-timeout), which is
// longer than any admission webhook may take.
const requestTimeout = time.Minute

// withTimeout sends a request that holds its worker for no longer than requestTimeout.
func withTimeout[T any](ctx context.Context, request func(ctx context.Context) (T, error)) (T, error) {
	limited, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	answer, err := request(limited)
	if err != nil && limited.Err() != nil && ctx.Err() == nil {
		err = fmt.Errorf("no answer within %s: %w", requestTimeout, err)
	}
	return answer, err
}
