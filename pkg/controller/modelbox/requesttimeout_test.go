// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package modelbox

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

func TestRequestsAreGivenUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begin := time.Now()
		hangs := func(ctx context.Context) (int, error) {
			<-ctx.Done()
			return 0, ctx.Err()
		}
		_, err := withTimeout(t.Context(), hangs)
		check(t, "time that it takes", requestTimeout, time.Since(begin))
		check(t, "error", "no answer within 1m0s: context deadline exceeded", err.Error())

		stopped, stop := context.WithCancel(t.Context())
		stop()
		_, err = withTimeout(stopped, hangs)
		check(t, "error at shutdown", "context canceled", err.Error())

		_, err = withTimeout(t.Context(), func(context.Context) (int, error) { return 0, errors.New("refused") })
		check(t, "error of the server", "refused", err.Error())
	})
}
