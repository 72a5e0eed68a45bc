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
	// Latency is that of each time, in microseconds.
	Latency *hdrhistogram.Histogram
}

// Run does something total times. Each client does the next one as soon as its last one is done, without a pause. The first
// error ends it.
func Run(ctx context.Context, clients, total int, do func(ctx context.Context, client, i int) error) (*Outcome, error) {
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
				before := time.Now()
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
