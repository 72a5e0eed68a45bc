// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package timeout

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

func TestRequestIsGivenUpAfterItsTimeout(t *testing.T) {
	hangs := func(ctx context.Context) (int, error) {
		<-ctx.Done()
		return 0, ctx.Err()
	}
	stopped := func(t *testing.T) context.Context {
		ctx, stop := context.WithCancel(t.Context())
		stop()
		return ctx
	}
	for _, row := range []struct {
		name    string
		ctx     func(t *testing.T) context.Context
		request func(context.Context) (int, error)
		want    string
		takes   time.Duration
	}{
		{"a server that hangs", (*testing.T).Context, hangs, "no answer within 1m0s: context deadline exceeded", requestTimeout},
		{"a shutdown", stopped, hangs, "context canceled", 0},
		{"an error of the server", (*testing.T).Context, func(context.Context) (int, error) { return 0, errors.New("refused") }, "refused", 0},
	} {
		t.Run(row.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				begin := time.Now()
				_, err := Request(row.ctx(t), row.request)
				if err == nil || err.Error() != row.want {
					t.Errorf("error: got %v, want %s", err, row.want)
				}
				if took := time.Since(begin); took != row.takes {
					t.Errorf("it took %s, want %s", took, row.takes)
				}
			})
		})
	}
}
