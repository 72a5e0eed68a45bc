// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package load

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"
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

func TestPacedIsNotFasterThanAskedFor(t *testing.T) {
	began := time.Now()
	early := 0
	outcome, err := Paced(t.Context(), 1, 21, 400, func(_ context.Context, _, i int) error {
		if time.Since(began) < time.Duration(i)*time.Second/400 {
			early++
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if early > 0 {
		t.Errorf("%d of 21 are early", early)
	}
	if got := outcome.Latency.TotalCount(); got != 21 {
		t.Errorf("there are %d latencies, want 21", got)
	}
}

func TestLatencyCountsFromWhenItIsDue(t *testing.T) {
	const delay = 20 * time.Millisecond
	outcome, err := Paced(t.Context(), 1, 3, 1e6, func(context.Context, int, int) error {
		time.Sleep(delay)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	// The last one had to wait for both others.
	if got, want := outcome.Latency.Max(), 3*delay.Microseconds()*99/100; got < want {
		t.Errorf("the longest latency is %d µs, want at least %d", got, want)
	}
}

func TestPacedEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	_, err := Paced(ctx, 2, 3, 1.0/3600, func(context.Context, int, int) error {
		cancel()
		return nil
	})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want %v", err, context.Canceled)
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
