// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package result

import (
	"fmt"

	"github.com/HdrHistogram/hdrhistogram-go"
)

// NewLatency returns an empty histogram of latencies in microseconds, up to ten minutes.
func NewLatency() *hdrhistogram.Histogram { return hdrhistogram.New(1, 600_000_000, 3) }

// EncodeLatency is what Measurement.Latency has of a histogram.
func EncodeLatency(histogram *hdrhistogram.Histogram) (string, error) {
	encoded, err := histogram.Encode(hdrhistogram.V2CompressedEncodingCookieBase)
	if err != nil {
		return "", fmt.Errorf("encoding latencies: %w", err)
	}
	return string(encoded), nil
}

// Latency returns the latencies of all rounds of a contestant; nil where none were recorded.
func (s *Scenario) Latency(of, contestant string) (*hdrhistogram.Histogram, error) {
	var all *hdrhistogram.Histogram
	for _, m := range s.Measurements {
		if m.Case != of || m.Contestant != contestant || m.Latency == "" {
			continue
		}
		histogram, err := hdrhistogram.Decode([]byte(m.Latency))
		if err != nil {
			return nil, fmt.Errorf("decoding latencies of %s, %s: %w", of, contestant, err)
		}
		if all == nil {
			all = NewLatency()
		}
		all.Merge(histogram)
	}
	return all, nil
}
