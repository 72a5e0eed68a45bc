// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

// Package load has several clients at once do something many times.
package load

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
	"golang.org/x/sync/errgroup"

	"github.com/sharelinuxs/modelbox-apiserver/hack/bench/result"
)

// Outcome is what came of it.
type Outcome struct {
	Took time.Duration
	// Latency is the latency of each request, in microseconds.
	Latency *hdrhistogram.Histogram
}

// Run does something total times. Each client does the next one as soon as its last one is done, without a pause. The first
// error ends it.
func Run(ctx context.Context, clients, total int, do func(ctx context.Context, client, i int) error) (*Outcome, error) {
	return run(ctx, clients, total, func(context.Context, int) (time.Time, error) { return time.Now(), nil }, do)
}

// Paced does something total times, so many times a second. It is the next client without anything to do that does it: where all
// of them wait for an answer it comes late, and its latency counts from when it was due.
func Paced(ctx context.Context, clients, total int, perSecond float64, do func(ctx context.Context, client, i int) error) (*Outcome, error) {
	began := time.Now()
	return run(ctx, clients, total, func(ctx context.Context, i int) (time.Time, error) {
		due := began.Add(time.Duration(float64(i) / perSecond * float64(time.Second)))
		select {
		case <-time.After(time.Until(due)):
			return due, nil
		case <-ctx.Done():
			return due, ctx.Err()
		}
	}, do)
}

// run does something total times, each when its turn has come, which begin waits for and returns.
func run(
	ctx context.Context, clients, total int,
	begin func(ctx context.Context, i int) (time.Time, error),
	do func(ctx context.Context, client, i int) error,
) (*Outcome, error) {
	var next atomic.Int64
	latency, mu := result.NewLatency(), sync.Mutex{}
	group, ctx := errgroup.WithContext(ctx)
	began := time.Now()
	for client := range clients {
		group.Go(func() error {
			own := result.NewLatency()
			for {
				i := int(next.Add(1)) - 1
				if i >= total {
					mu.Lock()
					defer mu.Unlock()
					latency.Merge(own)
					return nil
				}
				before, err := begin(ctx, i)
				if err != nil {
					return err
				}
				if err := do(ctx, client, i); err != nil {
					return err
				}
				// What takes longer than the histogram has room for counts as that.
				_ = own.RecordValue(min(max(time.Since(before).Microseconds(), 1), latency.HighestTrackableValue()))
			}
		})
	}
	err := group.Wait()
	return &Outcome{Took: time.Since(began), Latency: latency}, err
}
