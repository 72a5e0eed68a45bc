// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package load

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
)

func TestRunDoesEachOnce(t *testing.T) {
	const total = 1000
	var done [total]atomic.Int32
	outcome, err := Run(t.Context(), 7, total, func(_ context.Context, client, i int) error {
		if client < 0 || client >= 7 {
			t.Errorf("client %d of 7", client)
		}
		done[i].Add(1)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for i := range done {
		if times := done[i].Load(); times != 1 {
			t.Errorf("%d is done %d times", i, times)
		}
	}
	if got := outcome.Latency.TotalCount(); got != total {
		t.Errorf("there are %d latencies, want %d", got, total)
	}
}

func TestRunEndsWithTheFirstError(t *testing.T) {
	failure := errors.New("refused")
	var done atomic.Int32
	_, err := Run(t.Context(), 2, 1<<30, func(ctx context.Context, _, i int) error {
		done.Add(1)
		if i == 5 {
			return failure
		}
		return ctx.Err()
	})
	if !errors.Is(err, failure) {
		t.Errorf("got %v, want %v", err, failure)
	}
}
